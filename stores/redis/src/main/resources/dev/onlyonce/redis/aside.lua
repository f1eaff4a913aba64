-- Moves members out of an index.
--
-- KEYS[1]  the index
-- KEYS[2]  where they go
-- ARGV[1]  how many are kept there; the members follow
local now = redis.call('TIME')[1]
for i = 2, #ARGV do
  if redis.call('ZREM', KEYS[1], ARGV[i]) == 1 then
    redis.call('ZADD', KEYS[2], now, ARGV[i])
  end
end
redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -ARGV[1] - 1)
return {}
