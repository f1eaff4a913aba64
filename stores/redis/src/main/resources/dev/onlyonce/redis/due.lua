-- KEYS[1] is an index by time; how many at most; '1' for those that are due last of all, later than now. Answers the ids that are due.
local time = now()
if ARGV[2] == '1' then
  return { time, redis.call('ZREVRANGEBYSCORE', KEYS[1], '+inf', string.format('(%.0f', time), 'LIMIT', 0, ARGV[1]) }
end
return { time, redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', time, 'LIMIT', 0, ARGV[1]) }
