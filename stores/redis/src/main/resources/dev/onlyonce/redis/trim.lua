-- KEYS[1] is an audit stream, KEYS[2] counts its records. Deletes the oldest messages, if they are older than ARGV[1] (µs), until ARGV[2]
-- records are deleted, or, unless that is empty, ARGV[3] are left. Answers how many were deleted; records of a message go together.
local before, most, old, records = now() - ARGV[1], tonumber(ARGV[2]), {}, 0
if ARGV[3] ~= '' then most = math.min(most, (redis.call('GET', KEYS[2]) or 0) - ARGV[3]) end
for _, message in ipairs(redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', ARGV[2])) do
  -- Somebody else's message has no records; the stream says when it was added.
  local count, at = 0, message[1]:match('^%d+') * 1000
  if #message[2][2] > 8 then count, at = struct.unpack('>Bd', message[2][2]) end
  if at > before or records >= most then break end
  records, old[#old + 1] = records + count, message[1]
end
if #old > 0 then
  redis.call('XDEL', KEYS[1], unpack(old))
  redis.call('DECRBY', KEYS[2], records)
end
return { math.min(records, most) }
