-- KEYS[1] is an audit stream, KEYS[2] says how many records it has. Its retention in microseconds, how many records at most. Records
-- that were written together go together, and count as no more than that. Answers how many were deleted.
local old, records, most = {}, 0, tonumber(ARGV[2])
for _, message in ipairs(call('XRANGE', KEYS[1], '-', '+', 'COUNT', most)) do
  -- Somebody else's message has no records; the stream says when it was added.
  local count, at = 0, message[1]:match('^%d+') * 1000
  if #message[2][2] > 8 then
    count, at = unpack_bytes('>Bd', message[2][2])
  end
  if at > time - ARGV[1] or records >= most then
    break
  end
  records = records + count
  old[#old + 1] = message[1]
end
if #old > 0 then
  call('XDEL', KEYS[1], unpack(old))
  call('DECRBY', KEYS[2], records)
end
return { time, math.min(records, most) }
