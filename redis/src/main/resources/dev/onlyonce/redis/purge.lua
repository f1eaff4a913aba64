-- How many at most. Answers how many entries were deleted or made tombstones.
local time = now()
local purged = 0
for _, member in ipairs(redis.call('ZRANGEBYSCORE', EXPIRIES, '-inf', time, 'LIMIT', 0, ARGV[2])) do
  local key = ENTRY .. member
  local e = read(key)
  if not e then
    -- Native expiry was first.
    redis.call('ZREM', EXPIRIES, member)
    redis.call('ZREM', IDS, member)
  elseif gone(e, time) then
    redis.call('DEL', key)
    redis.call('ZREM', EXPIRIES, member)
    redis.call('ZREM', IDS, member)
    purged = purged + 1
  elseif shown(e, time) == EXPIRED and e.state ~= EXPIRED then
    e.state, e.result = EXPIRED, nil
    write(key, e, time)
    redis.call('ZADD', EXPIRIES, ending(e), member)
    purged = purged + 1
  elseif e.expires > 0 then
    redis.call('ZADD', EXPIRIES, e.state == EXPIRED and ending(e) or e.expires, member)
  else
    redis.call('ZREM', EXPIRIES, member)
  end
end
return { time, purged }
