-- Reads a cached entry. If there is none, notes for a moment that the caller asks the store,
-- so that others wait for its answer instead of asking as well.
--
-- KEYS[1]  the entry's key
-- ARGV[1]  how long the note holds, in milliseconds
-- Returns the sealed entry, '?' if somebody else asks the store, or nothing if the caller is to ask.

-- More than an entry ever has. Somebody may put half a gigabyte there, which no node should read.
local BYTES_MAX = 2097152

local found = redis.call('GETRANGE', KEYS[1], 0, BYTES_MAX - 1)
if found == '' then
  redis.call('SET', KEYS[1], '?', 'PX', ARGV[1])
  return false
end
return found
