// Shows a program four processors, however many the machine has: preload it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

long sysconf(int name)
{
	if (name == _SC_NPROCESSORS_CONF || name == _SC_NPROCESSORS_ONLN)
		return 4;
	return ((long (*)(int))dlsym(RTLD_NEXT, "sysconf"))(name);
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	(void)pid;
	memset(set, 0, size);
	for (int i = 0; i < 4; i++)
		CPU_SET_S(i, size, set);
	return 0;
}
