-- KEYS[1] is an audit stream. Its retention in microseconds, how many records at most. Answers how many were deleted.
local old = {}
for _, found in ipairs(redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', ARGV[2])) do
  local _, _, _, at = struct.unpack('>BBI4d', found[2][2])
  if at > time - ARGV[1] then
    break
  end
  old[#old + 1] = found[1]
end
if #old > 0 then
  redis.call('XDEL', KEYS[1], unpack(old))
end
return { time, #old }
