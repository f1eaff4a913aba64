-- What all scripts for entries share. KEYS[i] is the entry of item i, '<prefix>:{<partition>}:e:<id>'. In a cluster, the keys of the
-- partition's indexes follow: a script uses no key that it does not name. ARGV[1] is how many audit records a partition keeps, ARGV[2]
-- is '1' if ordinary settlements are recorded; the arguments of the items follow.
--
-- The indexes and the audit of a partition are changed with one command for all its items, and the entries last. A command costs more than
-- the change that it makes. So does every string, table and function that Lua makes: it allocates them one by one, and looks each string up
-- among all that it has. So what happens all the time has a short script of its own, fresh.lua and ordinary.lua, in front of plan.lua, which
-- does everything else.
local PENDING, PROCESSING, COMPLETED, FAILED, RETRYABLE, UNKNOWN, EXPIRED = 1, 2, 3, 4, 5, 6, 7

-- An entry is a string, and changed as one, because unpacking it would take longer than all the rest. Numbers begin with their
-- highest byte; StoredEntry.java reads the same.
--   1 format         2 state          3 flags          4 attempt, 4 bytes
--   8 created       16 leased until                                                    doubles, in µs
--  24 token, 16 bytes
--  40 settled (0: not)               48 expires (0: does not)                          doubles, in µs
--  56 lease policy  57 lease         65 retention     73 tombstone                     doubles, in ms
--  81 fingerprint, 36 bytes         117 operation, owner and target, each with its length in 2 bytes
-- Then follow why it was settled, with its length, if the entry is the record of that, and the result, to the end.
local CREATED, LEASE, TOKEN_AT, SETTLED, EXPIRES, LEASE_MS, RETENTION_MS, TOMBSTONE_MS = 8, 16, 24, 40, 48, 57, 65, 73
local TERMS, PRINT, OPERATION = 56, 81, 117
local FORMAT = 3

-- Flags. FIRST: the audit has no record of the entry's first change. OWN: nor of its settlement; the entry is the record of both.
local TOKEN, RESULT, FIRST, OWN = 1, 2, 4, 8
local NO_TOKEN = string.rep('\0', 16)

-- Native expiry only frees the memory that no purge came for: a node's purge is due long before.
local GRACE_MS = 86400000

-- How many bytes a call answers; the items after that are left for the next call.
local ANSWER_BYTES = 4194304

-- How many entries are read with one command. Each may have megabytes.
local READ_TOGETHER = 8

-- The audit of a partition forgets when it has this part too many records, and so many messages at once.
local FORGET_PART, FORGET_TOGETHER = 16, 100

-- The longest id of a stream that leaves room in the number of its records, see AuditStreams: milliseconds and a sequence of 3 digits.
local STREAM_ID_MAX = 17

-- Arguments before those of the items.
local FIXED = 2

-- Globals take longer to find.
local KEYS, ARGV, call, try = KEYS, ARGV, redis.call, redis.pcall
local pack, unpack_bytes, byte, char, sub, find = struct.pack, struct.unpack, string.byte, string.char, string.sub, string.find
local format, floor, has, unpack = string.format, math.floor, bit.band, unpack
local time = now()
local time_bytes = pack('>d', time)

-- The answers to the items follow the time. Which items are left for plan.lua; nil for all.
local answers, left = { time }, nil

local function number(raw, at)
  return (unpack_bytes('>d', raw, at))
end

-- Where the text ends that begins here with its length.
local function text_end(raw, at)
  local high, low = byte(raw, at, at + 1)
  return at + 1 + high * 256 + low
end

-- The last byte of operation and owner.
local function names_end(raw)
  return text_end(raw, text_end(raw, OPERATION) + 1)
end

-- The length of a text as it stands before it.
local function length(value)
  local size = #value
  return char(floor(size / 256), size % 256)
end

-- A time as the score in an index. A number would be converted by Redis, at a multiple of the cost.
local function score(at)
  return format('%.0f', at)
end

-- After how many milliseconds Redis may free the memory of an entry that nothing is left of from then on.
local function native_expiry(last)
  return format('%.0f', math.max(0, floor((last - time) / 1000)) + GRACE_MS)
end

-- Forgets the oldest messages of an audit that has this many records too many.
local function forget(base, over)
  local old, records = {}, 0
  local oldest = call('XRANGE', base .. 'audit', '-', '+', 'COUNT', FORGET_TOGETHER)
  for _, message in ipairs(oldest) do
    local count = byte(message[2][2], 1)
    if records + count > over then
      break
    end
    records = records + count
    old[#old + 1] = message[1]
  end
  if #old > 0 then
    call('XDEL', base .. 'audit', unpack(old))
    call('DECRBY', base .. 'audited', records)
  end
end

-- Adds a message to the audit: how many records it has, in a byte, and the time; then the records. The first of the parts is free for what
-- comes before the records.
local function add_records(base, count, parts)
  local audited, audit = base .. 'audited', base .. 'audit'
  parts[1] = char(count) .. time_bytes
  local message = table.concat(parts)
  local over = call('INCRBY', audited, count) - ARGV[1]
  local id = call('XADD', audit, 'NOMKSTREAM', '*', 'r', message)
  if not id then
    -- There is no stream yet, or somebody has deleted it and left its count.
    call('SET', audited, count)
    over, id = 0, call('XADD', audit, '*', 'r', message)
  end
  if #id > STREAM_ID_MAX then
    -- The clock was set back, so the stream goes on in the last millisecond that it knows.
    call('XSETID', audit, score(sub(id, 1, 13) + 1) .. '-0')
  end
  if over > ARGV[1] / FORGET_PART then
    forget(base, over)
  end
end

local function failed(problem)
  return { 'failed', type(problem) == 'table' and problem.err or tostring(problem) }
end

-- The partitions of the items that fresh.lua or ordinary.lua does, and the one of the key before.
local groups, by_start, group, start = {}, {}, nil, ''

-- Keys come in the order of their partitions, so most are in the same one as the key before. Their members follow the start.
local function group_of(key, lists)
  if not group or find(key, start, 1, true) ~= 1 then
    start = sub(key, 1, find(key, '}:e:', 1, true) + 3)
    group = by_start[start]
    if not group then
      group = { base = sub(start, 1, -3), count = 0, items = {} }
      for _, list in ipairs(lists) do
        group[list] = {}
      end
      by_start[start], groups[#groups + 1] = group, group
    end
  end
  return group
end

-- Leaves the items of a partition whose indexes cannot be changed: plan.lua finds out again and says so.
local function leave(partition)
  for _, i in ipairs(partition.items) do
    left[#left + 1], answers[i + 1] = i, nil
  end
end
