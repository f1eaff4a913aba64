-- Retention of the audit in microseconds, how many records at most. Answers how many were deleted.
local time = now()
local old = {}
for _, found in ipairs(redis.call('XRANGE', AUDIT, '-', '+', 'COUNT', ARGV[3])) do
  local _, _, _, at = struct.unpack('>BBI4d', found[2][2])
  if at > time - ARGV[2] then
    break
  end
  old[#old + 1] = found[1]
end
if #old > 0 then
  redis.call('XDEL', AUDIT, unpack(old))
end
return { time, #old }
