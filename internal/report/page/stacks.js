// Call stacks: the icicle of what methods allocate, with what they call.

function makeStacks(tree) {
  new Icicle(document.querySelector('#callers [data-icicle]'), tree, { label: 'allocations', does: 'allocated', of: 'what was allocated', all: 'all threads', counted: ['event', 'events'] });
}
