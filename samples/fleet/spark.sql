-- The fleet in Spark SQL (3.4 or later). Run it in the directory that contains fleet/, as gclog wrote it
-- with date=%d/hour=%H/ in its path, or put the path of a bucket in its place (s3a://...):
--
--   spark-sql -f spark.sql
--
-- A question is usually about some days: add WHERE date >= '2026-03-17', and Spark opens no other
-- files. docs/fleet.md has the columns.

CREATE OR REPLACE TEMPORARY VIEW files USING parquet OPTIONS (path 'fleet');

-- instance identifies a process. Those of .NET Core 3.1, and recordings, have no process_entity_id.
CREATE OR REPLACE TEMPORARY VIEW gc AS
SELECT *, coalesce(process_entity_id, concat_ws('/', host_name, CAST(process_pid AS STRING), process_start_key)) AS instance
FROM files;

-- 1. Which services are paused for the largest share of their time?
WITH process AS (
  SELECT service_name, instance,
    sum(coalesce(gc_pause_total_ns, gc_suspension_ns, 0)) / 1e9 AS paused_s,
    timestampdiff(MICROSECOND, min(timestamp), max(timestamp)) / 1e6 AS observed_s
  FROM gc GROUP BY service_name, instance
)
SELECT service_name, count(*) AS processes, sum(paused_s) / sum(observed_s) AS pause_share
FROM process GROUP BY service_name ORDER BY pause_share DESC, service_name LIMIT 10;

-- 2. Which services have the longest pauses?
SELECT service_name, count(*) AS collections,
  percentile(gc_pause_max_ns, 0.5) / 1e6 AS p50_ms,
  percentile(gc_pause_max_ns, 0.99) / 1e6 AS p99_ms,
  max(gc_pause_max_ns) / 1e6 AS max_ms
FROM gc WHERE event_action = 'gc' GROUP BY service_name ORDER BY p99_ms DESC, service_name LIMIT 10;

-- 3. In which services does the heap grow, in MB per hour and process, by what full collections leave?
WITH process AS (
  SELECT service_name, instance,
    regr_slope(gc_heap_after_bytes / 1e6, timestampdiff(MICROSECOND, process_start, timestamp) / 3600e6) AS mb_per_hour
  FROM gc WHERE event_action = 'gc' AND gc_generation = 2 AND gc_heap_after_bytes IS NOT NULL
  GROUP BY service_name, instance HAVING count(*) >= 5
)
SELECT service_name, count(*) AS processes, avg(mb_per_hour) AS mb_per_hour
FROM process GROUP BY service_name ORDER BY mb_per_hour DESC, service_name LIMIT 10;

-- 4. What did another version of the runtime change, in services that run on several?
SELECT service_name, runtime_version, count(DISTINCT instance) AS processes, count(*) AS collections,
  percentile(gc_pause_max_ns, 0.5) / 1e6 AS p50_ms,
  percentile(gc_pause_max_ns, 0.99) / 1e6 AS p99_ms,
  sum(gc_pause_total_ns) / 1e6 / (sum(gc_allocated_bytes) / 1e9) AS pause_ms_per_gb
FROM gc
WHERE event_action = 'gc' AND service_name IN (SELECT service_name FROM gc GROUP BY service_name HAVING count(DISTINCT runtime_version) > 1)
GROUP BY service_name, runtime_version ORDER BY service_name, runtime_version;

-- 5. What does a setting change? Here server GC and background collections.
SELECT gc_server, gc_concurrent, count(DISTINCT instance) AS processes, count(*) AS collections,
  sum(CASE WHEN gc_generation = 2 AND gc_type = 'blocking' THEN 1 ELSE 0 END) AS full_blocking,
  percentile(gc_pause_max_ns, 0.99) / 1e6 AS p99_ms,
  sum(gc_pause_total_ns) / 1e6 / (sum(gc_allocated_bytes) / 1e9) AS pause_ms_per_gb
FROM gc WHERE event_action = 'gc' GROUP BY gc_server, gc_concurrent ORDER BY gc_server, gc_concurrent;

-- 6. Where does server GC run in small containers: at most 2 processors, or less than 1 GB?
SELECT service_name, count(DISTINCT instance) AS processes, min(gc_settings_processors) AS processors,
  min(process_cgroup_memory_limit_bytes) / 1e6 AS limit_mb, max(gc_heap_count) AS heaps
FROM gc
WHERE event_action = 'gc' AND gc_server AND (gc_settings_processors <= 2 OR process_cgroup_memory_limit_bytes < 1e9)
GROUP BY service_name ORDER BY processes DESC, service_name;

-- 7. Which pods come near their memory limit?
SELECT orchestrator_namespace, orchestrator_resource_name, service_name,
  max(process_cgroup_memory_usage_bytes / process_cgroup_memory_limit_bytes) AS peak,
  max(process_cgroup_memory_limit_bytes) / 1e6 AS limit_mb
FROM gc WHERE event_action = 'gc' AND process_cgroup_memory_limit_bytes > 0
GROUP BY orchestrator_namespace, orchestrator_resource_name, service_name
HAVING max(process_cgroup_memory_usage_bytes / process_cgroup_memory_limit_bytes) > 0.9
ORDER BY peak DESC, orchestrator_namespace, orchestrator_resource_name LIMIT 20;

-- 8. Who induces collections?
SELECT service_name,
  sum(CASE WHEN gc_reason_group = 'induced' THEN 1 ELSE 0 END) AS induced,
  sum(CASE WHEN gc_reason_group = 'induced' THEN 1 ELSE 0 END) / count(*) AS share,
  sum(CASE WHEN gc_reason_group = 'induced' THEN gc_pause_total_ns ELSE 0 END) / 1e9 AS paused_s
FROM gc WHERE event_action = 'gc'
GROUP BY service_name HAVING sum(CASE WHEN gc_reason_group = 'induced' THEN 1 ELSE 0 END) > 0
ORDER BY induced DESC, service_name LIMIT 10;

-- 9. Where were events lost, and what is missing because of that?
SELECT service_name,
  sum(CASE WHEN event_action = 'gc-gap' THEN 1 ELSE 0 END) AS gaps,
  sum(coalesce(gc_gap_lost_events_count, 0)) AS lost_events,
  sum(coalesce(gc_gap_records_count, 0)) AS missing_records,
  sum(CASE WHEN event_action = 'gc' AND NOT gc_complete THEN 1 ELSE 0 END) AS incomplete
FROM gc GROUP BY service_name HAVING sum(CASE WHEN event_action = 'gc-gap' THEN 1 ELSE 0 END) > 0
ORDER BY lost_events DESC, service_name;

-- 10. Which processes were killed, and what happened in the 10 minutes before?
WITH killed AS (
  SELECT instance, service_name, event_reason, timestamp AS killed_at
  FROM gc WHERE event_action = 'gc-session-end' AND event_reason IN ('killed', 'oom-killed', 'aborted', 'crashed')
), before AS (
  SELECT k.service_name, k.instance, k.event_reason,
    sum(g.gc_pause_total_ns) / 600e9 AS pause_share,
    max(g.process_cgroup_memory_usage_bytes / g.process_cgroup_memory_limit_bytes) AS memory
  FROM killed k JOIN gc g ON g.instance = k.instance
  WHERE g.event_action = 'gc' AND g.timestamp > k.killed_at - INTERVAL '10' MINUTE
  GROUP BY k.service_name, k.instance, k.event_reason
)
SELECT service_name, event_reason, count(*) AS processes, avg(pause_share) AS pause_share, avg(memory) AS memory
FROM before GROUP BY service_name, event_reason ORDER BY processes DESC, service_name, event_reason;
