-- What all scripts for entries share. KEYS[i] is the entry of item i, '<prefix>:{<partition>}:e:<id>'. In a cluster, the keys of the
-- partition's indexes follow: a script uses no key that it does not name. ARGV[1] is how many audit records a partition keeps, ARGV[2]
-- is '1' if ordinary settlements are recorded; the arguments of the items follow.
--
-- A script reads the entries, a few with each command, and plans the changes of each item. Then it makes them: the indexes and the
-- audit of each partition, with one command for all its items, and the entries last. A command costs more than the change that it makes.
local PENDING, PROCESSING, COMPLETED, FAILED, RETRYABLE, UNKNOWN, EXPIRED = 1, 2, 3, 4, 5, 6, 7

-- An entry is a string, and changed as one, because unpacking it would take longer than all the rest. Numbers begin with their
-- highest byte; StoredEntry.java reads the same.
--   1 format         2 state          3 flags          4 attempt, 4 bytes         8 token, 16 bytes
--  24 created       32 leased until  40 settled (0: not)  48 expires (0: does not)       doubles, in µs
--  56 lease policy  57 lease         65 retention     73 tombstone                       doubles, in ms
--  81 fingerprint, 36 bytes         117 operation, owner and target, each with its length in 2 bytes
-- Then follow why it was settled, with its length, if the entry is the record of that, and the result, to the end.
local CREATED, LEASE, SETTLED, EXPIRES, LEASE_MS, RETENTION_MS, TOMBSTONE_MS = 24, 32, 40, 48, 57, 65, 73
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

-- Arguments before those of the items.
local FIXED = 2

local call, try = redis.call, redis.pcall
local pack, unpack_bytes, byte, char, sub, find = struct.pack, struct.unpack, string.byte, string.char, string.sub, string.find
local format, floor, has = string.format, math.floor, bit.band
local time = now()
local time_bytes = pack('>d', time)

local function number(raw, at)
  return (unpack_bytes('>d', raw, at))
end

local function attempt(raw)
  return (unpack_bytes('>I4', raw, 4))
end

local function has_flag(raw, flag)
  return has(byte(raw, 3), flag) ~= 0
end

local function has_token(raw, token)
  return has_flag(raw, TOKEN) and sub(raw, 8, 23) == token
end

-- Where the text ends that begins here with its length.
local function text_end(raw, at)
  local high, low = byte(raw, at, at + 1)
  return at + 1 + high * 256 + low
end

local function text(value)
  return char(floor(#value / 256), #value % 256) .. value
end

-- The last byte of operation and owner.
local function names_end(raw)
  return text_end(raw, text_end(raw, OPERATION) + 1)
end

-- The last byte of the target.
local function head_end(raw)
  if has(byte(raw, 3), RESULT + OWN) == 0 then
    return #raw
  end
  return text_end(raw, names_end(raw) + 1)
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

-- A time as the score in an index. A number would be converted by Redis, at a multiple of the cost.
local function score(at)
  return format('%.0f', at)
end

-- The plan: partitions with the changes of their indexes and audit, and what is written to the entries.
local partitions, by_base = {}, {}
local created, written = {}, {}

-- The partition of an entry, and the entry's member in its indexes.
local function place(key)
  local at = find(key, '}:e:', 1, true)
  local base = sub(key, 1, at + 1)
  local partition = by_base[base]
  if not partition then
    partition = { base = base, commands = {}, added = {}, removed = {}, records = {} }
    by_base[base] = partition
    partitions[#partitions + 1] = partition
  end
  return partition, sub(key, at + 4)
end

local function add(partition, index, at, member)
  local command = partition.added[index]
  if not command then
    command = { 'ZADD', partition.base .. index }
    partition.added[index] = command
    partition.commands[#partition.commands + 1] = command
  end
  command[#command + 1] = at
  command[#command + 1] = member
end

local function remove(partition, index, member)
  local command = partition.removed[index]
  if not command then
    command = { 'ZREM', partition.base .. index }
    partition.removed[index] = command
    partition.commands[#partition.commands + 1] = command
  end
  command[#command + 1] = member
end

-- Names are the operation and who changed it; why has its length before it. The first change goes with the next one.
local function record(partition, member, raw, from, to, attempt_bytes, at_bytes, names, why)
  local first = (from == PENDING or from == PROCESSING) and has_flag(raw, FIRST)
  local bytes = char(from, to, first and 1 or 0) .. attempt_bytes .. at_bytes .. text(member) .. names .. why
  if first then
    bytes = bytes .. sub(raw, CREATED, LEASE - 1) .. sub(raw, text_end(raw, OPERATION) + 1, names_end(raw))
  end
  partition.records[#partition.records + 1] = bytes
end

-- The operation, and somebody else than the owner.
local function names(raw, who)
  return sub(raw, OPERATION, text_end(raw, OPERATION)) .. text(who)
end

-- Records the settlement that the entry has been the record of.
local function record_own(partition, member, raw)
  if has_flag(raw, OWN) then
    local why = head_end(raw) + 1
    record(partition, member, raw, PROCESSING, byte(raw, 2), sub(raw, 4, 7), sub(raw, SETTLED, SETTLED + 7),
      sub(raw, OPERATION, names_end(raw)), sub(raw, why, text_end(raw, why)))
  end
end

-- Plans to write a new entry of item i.
local function create(i, partition, key, value)
  created[#created + 1] = { i, partition, key, value }
end

-- Plans a command for the entry of item i.
local function write(i, partition, ...)
  written[#written + 1] = { i, partition, ... }
end

-- Plans to write an entry that has ended; head_bytes are its format, state and flags.
local native_expiries = {}
local function write_ended(i, partition, key, raw, head_bytes, token, times, rest, last)
  local value = head_bytes .. sub(raw, 4, 7) .. token .. sub(raw, CREATED, SETTLED - 1) .. times .. rest
  if not last then
    return write(i, partition, 'SET', key, value)
  end
  local expiry = native_expiries[last]
  if not expiry then
    expiry = format('%.0f', math.max(0, floor((last - time) / 1000)) + GRACE_MS)
    native_expiries[last] = expiry
  end
  write(i, partition, 'SET', key, value, 'PX', expiry)
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

-- A message has how many records it has, in a byte, and the time; then the records.
local function index(partition)
  for _, command in ipairs(partition.commands) do
    call(unpack(command))
  end
  local count = #partition.records
  if count > 0 then
    local over = call('INCRBY', partition.base .. 'audited', count) - ARGV[1]
    call('XADD', partition.base .. 'audit', '*', 'r', char(count) .. time_bytes .. table.concat(partition.records))
    if over > ARGV[1] / FORGET_PART then
      forget(partition.base, over)
    end
  end
end

local function failed(problem)
  return { 'failed', type(problem) == 'table' and problem.err or tostring(problem) }
end

-- Makes the planned changes. An error in the index of a partition fails the items of that partition alone, and their entries stay as
-- they were: an index may have a member too many, and those are corrected when they are used.
local function make_changes(answers)
  for _, partition in ipairs(partitions) do
    local ok, problem = pcall(index, partition)
    if not ok then
      partition.problem = failed(problem)
    end
  end
  local all = {}
  for _, new in ipairs(created) do
    if new[2].problem then
      answers[new[1] + 1] = new[2].problem
    else
      all[#all + 1] = new[3]
      all[#all + 1] = new[4]
    end
  end
  -- One that is there after all is no entry: somebody has put another type of value there, which no read of entries shows.
  if #all > 0 and call('MSETNX', unpack(all)) == 0 then
    for _, new in ipairs(created) do
      if not new[2].problem and not call('SET', new[3], new[4], 'NX') then
        answers[new[1] + 1] = failed('WRONGTYPE the key of an entry holds something else')
      end
    end
  end
  for _, change in ipairs(written) do
    if change[2].problem then
      answers[change[1] + 1] = change[2].problem
    else
      call(unpack(change, 3))
    end
  end
  return answers
end

-- Does the items and answers for each. An item that fails is answered with its error and fails no other.
local function answer(width, item)
  local answers, room = { time }, ANSWER_BYTES
  local count = (#ARGV - FIXED) / width
  for first = 1, count, READ_TOGETHER do
    local last = math.min(first + READ_TOGETHER - 1, count)
    local raws = call('MGET', unpack(KEYS, first, last))
    for i = first, last do
      local raw, found = raws[i - first + 1], nil
      if raw and byte(raw, 1) ~= FORMAT then
        found = failed('an entry was written by another release')
      else
        local ok, result = pcall(item, i, KEYS[i], raw, FIXED + 1 + (i - 1) * width)
        found = ok and result or failed(result)
      end
      answers[i + 1] = found
      if type(found) == 'string' then
        room = room - #found
      end
    end
    if room < 0 then
      break
    end
  end
  return make_changes(answers)
end

-- When entries with this retention expire if they are settled now, as a number, in an entry, and in an index.
local settled_now = {}
local function expiry(retention_ms)
  local found = settled_now[retention_ms]
  if not found then
    local at = time + retention_ms * 1000
    found = { at = at, bytes = time_bytes .. pack('>d', at), score = score(at) }
    settled_now[retention_ms] = found
  end
  return found
end

-- Ends a claim, an abandoned entry or a doubt; the caller has checked that the state allows it. The first change needs no memory, so
-- that a server without any takes settlements. Answers when it expires, 0 for never.
local function settle(i, key, raw, to, token, result, named, why)
  local partition, member = place(key)
  local from = byte(raw, 2)
  remove(partition, from == UNKNOWN and 'unknown' or 'leases', member)
  local at, last, times = 0, nil, nil
  if to == UNKNOWN then
    add(partition, 'unknown', '0', member)
    times = time_bytes .. pack('>d', 0)
  else
    local ended = expiry(number(raw, RETENTION_MS))
    at, times = ended.at, ended.bytes
    last = ending(to, at, number(raw, TOMBSTONE_MS))
    add(partition, 'expiries', ended.score, member)
  end
  local flags = (token and TOKEN or 0) + (result and RESULT or 0)
  local rest = sub(raw, TERMS, head_end(raw))
  if ARGV[2] ~= '1' and token and (to == COMPLETED or to == FAILED) and time <= number(raw, LEASE) then
    flags = flags + OWN + has(byte(raw, 3), FIRST)
    rest = rest .. why
  else
    record(partition, member, raw, from, to, sub(raw, 4, 7), time_bytes, named, why)
  end
  write_ended(i, partition, key, raw, char(FORMAT, to, flags), token or NO_TOKEN, times, result and rest .. result or rest, last)
  return at
end

local function lost(raw)
  return { 0, shown(raw) }
end
