-- What all scripts for entries share. KEYS[i] is the entry of item i, '<prefix>:{<partition>}:e:<id>'. In a cluster, the keys of the
-- partition's indexes follow: a script uses no key that it does not name. ARGV[1] is how many audit records a partition keeps, the
-- arguments of the items follow.
local PENDING, PROCESSING, COMPLETED, FAILED, RETRYABLE, UNKNOWN, EXPIRED = 1, 2, 3, 4, 5, 6, 7

-- An entry is a string, and changed as one, because unpacking it would take longer than all the rest. Numbers begin with their
-- highest byte; StoredEntry.java reads the same.
--   1 format         2 state          3 flags (1: has a token, 2: has a result)    4 attempt, 4 bytes      8 token, 16 bytes
--  24 created       32 leased until  40 settled (0: not)                          48 expires (0: does not)  doubles, in µs
--  56 lease policy  57 lease         65 retention  73 tombstone                                             doubles, in ms
--  81 fingerprint, 36 bytes         117 operation, and then owner, with their lengths in 2 bytes; then the result, to the end
-- Format 2 has the target, with its length, before the result. An entry without a target keeps format 1, which older releases read.
local CREATED, LEASE, SETTLED, EXPIRES, LEASE_MS, RETENTION_MS, TOMBSTONE_MS = 24, 32, 40, 48, 57, 65, 73
local TERMS, PRINT, OPERATION = 56, 81, 117
local NO_TOKEN = string.rep('\0', 16)

-- Native expiry only frees the memory that no purge came for: a node's purge is due long before.
local GRACE_MS = 86400000

-- How many bytes a call answers; the items after that are left for the next call.
local ANSWER_BYTES = 4194304

local time = now()
local call, pack, byte, char, sub = redis.call, struct.pack, string.byte, string.char, string.sub

-- Does the items one by one and answers for each. An item that fails is answered with its error and fails no other. Every item writes
-- its entry last, so one that fails has changed nothing but indexes, and those are corrected when they are used.
local function answer(width, item)
  local answers = { time }
  local room = ANSWER_BYTES
  for i = 1, (#ARGV - 1) / width do
    local key = KEYS[i]
    local at = string.find(key, '}:e:', 1, true)
    local ok, found = pcall(item, key, sub(key, 1, at + 1), sub(key, at + 4), 2 + (i - 1) * width)
    if not ok then
      found = { 'failed', type(found) == 'table' and found.err or tostring(found) }
    elseif type(found) == 'string' then
      room = room - #found
    end
    answers[i + 1] = found
    if room < 0 then
      break
    end
  end
  return answers
end

local function read(key)
  local raw = call('GET', key)
  if raw and byte(raw, 1) ~= 1 and byte(raw, 1) ~= 2 then
    error('an entry was written by a newer release')
  end
  return raw
end

local function number(raw, at)
  return (struct.unpack('>d', raw, at))
end

local function attempt(raw)
  return (struct.unpack('>I4', raw, 4))
end

local function has_token(raw, token)
  return byte(raw, 3) % 2 == 1 and sub(raw, 8, 23) == token
end

-- Where the text ends that begins here with its length.
local function text_end(raw, at)
  local high, low = byte(raw, at, at + 1)
  return at + 1 + high * 256 + low
end

local function text(value)
  return pack('>I2', #value) .. value
end

-- The last byte of operation and owner.
local function names_end(raw)
  return text_end(raw, text_end(raw, OPERATION) + 1)
end

-- The last byte before the result.
local function head_end(raw)
  local last = names_end(raw)
  return byte(raw, 1) == 2 and text_end(raw, last + 1) or last
end

local function operation(raw)
  return sub(raw, OPERATION + 2, text_end(raw, OPERATION))
end

-- When nothing is left of an entry; nil if it does not expire.
local function ending(state, expires, tombstone_ms)
  if expires == 0 then
    return nil
  end
  return state == RETRYABLE and expires or expires + tombstone_ms * 1000
end

local function gone(raw)
  local last = ending(byte(raw, 2), number(raw, EXPIRES), number(raw, TOMBSTONE_MS))
  return last ~= nil and last <= time
end

-- The entry, unless it is past its retention and tombstone.
local function live(key)
  local raw = read(key)
  if raw and gone(raw) then
    return nil
  end
  return raw
end

-- The state as readers see it; 0 for no entry.
local function shown(raw)
  if not raw then
    return 0
  end
  local state = byte(raw, 2)
  return ((state == COMPLETED or state == FAILED) and number(raw, EXPIRES) <= time) and EXPIRED or state
end

local function leased(raw, lease)
  return sub(raw, 1, LEASE - 1) .. pack('>d', lease) .. sub(raw, SETTLED)
end

-- Writes an entry that has ended in another state.
local function write_ended(key, raw, state, token, settled, expires, result)
  local flags = (token and 1 or 0) + (result and 2 or 0)
  local changed = sub(raw, 1, 1) .. char(state, flags) .. sub(raw, 4, 7) .. (token or NO_TOKEN) .. sub(raw, CREATED, SETTLED - 1)
    .. pack('>dd', settled, expires) .. sub(raw, TERMS, head_end(raw)) .. (result or '')
  local last = ending(state, expires, number(raw, TOMBSTONE_MS))
  if last then
    call('SET', key, changed, 'PX', string.format('%.0f', math.max(0, math.floor((last - time) / 1000)) + GRACE_MS))
  else
    call('SET', key, changed)
  end
end

-- Names are the operation and who changed it, each with its length.
local function record(base, member, from, to, attempt_bytes, names, why)
  call('XADD', base .. 'audit', 'MAXLEN', '~', ARGV[1], '*', 'r',
    char(from, to) .. attempt_bytes .. pack('>dI2', time, #member) .. member .. names .. text(why))
end

-- The operation, and somebody else than the owner.
local function names(raw, who)
  return sub(raw, OPERATION, text_end(raw, OPERATION)) .. text(who)
end

-- Ends a claim, an abandoned entry or a doubt; the caller has checked that the state allows it. The first change needs no memory, so
-- that a server without any takes settlements. Answers when it was settled and when it expires.
local function settle(key, base, member, raw, to, token, result, named, why)
  local from = byte(raw, 2)
  call('ZREM', base .. (from == UNKNOWN and 'unknown' or 'leases'), member)
  local expires = 0
  if to == UNKNOWN then
    call('ZADD', base .. 'unknown', 0, member)
  else
    expires = time + number(raw, RETENTION_MS) * 1000
    call('ZADD', base .. 'expiries', expires, member)
  end
  record(base, member, from, to, sub(raw, 4, 7), named, why)
  write_ended(key, raw, to, token, time, expires, result)
  return { 1, time, expires }
end

local function lost(raw)
  return { 0, shown(raw) }
end
