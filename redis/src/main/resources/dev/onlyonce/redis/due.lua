-- KEYS[1] is an index by time; how many at most. Answers the ids that are due.
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', time, 'LIMIT', 0, ARGV[1])
return { time, due }
