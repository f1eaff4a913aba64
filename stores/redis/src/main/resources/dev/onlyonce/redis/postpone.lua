-- KEYS[1] is an index by time. For how many milliseconds, and the members that are not looked at before.
local at = score(time + ARGV[1] * 1000)
for i = 2, #ARGV do
  call('ZADD', KEYS[1], 'XX', at, ARGV[i])
end
return { time }
