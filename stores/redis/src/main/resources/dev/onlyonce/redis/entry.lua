-- What all scripts for entries share. KEYS[i] is the entry of item i, '<prefix>:{<partition>}:e:<id>'. In a cluster, the keys of the
-- partition's indexes follow: a script uses no key that it does not name. ARGV[1] is how many audit records a partition keeps, ARGV[2]
-- is '1' if ordinary settlements are recorded, ARGV[3] is the id of the store, ARGV[4] says how many of the last keys are marks of
-- partitions; the arguments of the items follow.
--
-- A script reads the entries, a few with each command, and plans the changes of each item. Then it makes them: the indexes and the
-- audit of each partition, with one command for all its items, and the entries last. A command costs more than the change that it makes.
-- So does every string and table that Lua makes: it allocates them one by one, and looks each string up among all that it has.
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

-- Longer than any retention with its tombstone.
local LIFE_MAX_US = 1e15

-- How many bytes a call answers; the items after that are left for the next call.
local ANSWER_BYTES = 4194304

-- How many entries are read with one command. Each may have megabytes.
local READ_TOGETHER = 8

-- How much of an entry is read where its result matters only to whoever gets it; all but the result has less than 4 KiB. What is longer is
-- large: copying it here, and sending it with the answers to others, would hold them up.
local SMALL_BYTES = 16384

-- The audit of a partition forgets when it has this part too many records, and so many messages at once.
local FORGET_PART, FORGET_TOGETHER = 16, 100

-- The longest id of a stream that leaves room in the number of its records, see AuditStreams: milliseconds and a sequence of 3 digits.
local STREAM_ID_MAX = 17

-- Arguments before those of the items.
local FIXED = 4

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
  return has_flag(raw, TOKEN) and sub(raw, TOKEN_AT, SETTLED - 1) == token
end

-- Where the text ends that begins here with its length. An error if it is cut off: a record with half a text would make those after it in
-- its message unreadable.
local function text_end(raw, at)
  local high, low = byte(raw, at, at + 1)
  local last = at + 1 + high * 256 + low
  if last > #raw then
    error('it is cut off')
  end
  return last
end

-- The last byte of operation and owner.
local function names_end(raw)
  return text_end(raw, text_end(raw, OPERATION) + 1)
end

-- The last byte of the target.
local function head_end(raw)
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
  return sub(raw, 1, LEASE - 1) .. pack('>d', lease) .. sub(raw, TOKEN_AT)
end

-- A time as the score in an index. A number would be converted by Redis, at a multiple of the cost.
local function score(at)
  return format('%.0f', at)
end

-- The plan. A partition has its commands as a list, and by the name of their index.
local partitions, by_base = {}, {}
-- New entries: their items and partitions, and the arguments of MSETNX.
local created_items, created_partitions, created = {}, {}, {}
-- Other entries: their items, partitions, keys, values (false: none is left) and native expiries (false: none).
local items, item_partitions, item_keys, item_values, item_expiries = {}, {}, {}, {}, {}

-- The partition of an entry, and the entry's member in its indexes.
local function place(key)
  local at = find(key, '}:e:', 1, true)
  local base = sub(key, 1, at + 1)
  local partition = by_base[base]
  if not partition then
    partition = { base = base }
    by_base[base] = partition
    partitions[#partitions + 1] = partition
  end
  return partition, sub(key, at + 4)
end

local function add(partition, index, at, member)
  local command = partition[index]
  if not command then
    command = { 'ZADD', partition.base .. index }
    partition[index] = command
    partition[#partition + 1] = command
  end
  local last = #command
  command[last + 1], command[last + 2] = at, member
end

local REMOVED = { ids = '-ids', leases = '-leases', expiries = '-expiries', unknown = '-unknown' }
local function remove(partition, index, member)
  local command = partition[REMOVED[index]]
  if not command then
    command = { 'ZREM', partition.base .. index }
    partition[REMOVED[index]] = command
    partition[#partition + 1] = command
  end
  command[#command + 1] = member
end

-- The length of a text as it stands before it.
local function length(value)
  local size = #value
  return char(floor(size / 256), size % 256)
end

local function text(value)
  return length(value) .. value
end

local function owner(raw)
  return sub(raw, text_end(raw, OPERATION) + 1, names_end(raw))
end

-- Names are the operation and who changed it; why has its length before it. The first change goes with the next one: 1 says that
-- whoever made the second made it too, 2 that its maker follows.
local function record(partition, member, raw, from, to, attempt_bytes, at_bytes, names, why, is_owner)
  local first = (from == PENDING or from == PROCESSING) and has_flag(raw, FIRST)
  local records = partition.records
  if not records then
    records = {}
    partition.records = records
  end
  records[#records + 1] = char(from, to, first and (is_owner and 1 or 2) or 0) .. attempt_bytes .. sub(raw, CREATED, LEASE - 1)
    .. at_bytes .. length(member) .. member .. names .. why .. (first and not is_owner and owner(raw) or '')
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
      sub(raw, OPERATION, names_end(raw)), sub(raw, why, text_end(raw, why)), true)
  end
end

-- Plans to write a new entry of item i.
local function create(i, partition, key, value)
  local count, last = #created_items + 1, #created
  created_items[count], created_partitions[count] = i, partition
  created[last + 1], created[last + 2] = key, value
end

-- Plans to write the entry of item i, or to delete it.
local function write(i, partition, key, value, expiry)
  local count = #items + 1
  items[count], item_partitions[count], item_keys[count] = i, partition, key
  item_values[count], item_expiries[count] = value, expiry or false
end

-- After how many milliseconds Redis may free the memory of an entry that nothing is left of from then on. An error if no terms allow
-- that end, or it is no number: Redis would refuse it when other entries are half changed.
local native_expiries = {}
local function native_expiry(last)
  local found = native_expiries[last]
  if not found then
    local left_us = last - time
    if not (left_us >= 0 and left_us < LIFE_MAX_US) then
      error('its terms are damaged')
    end
    found = format('%.0f', floor(left_us / 1000) + GRACE_MS)
    native_expiries[last] = found
  end
  return found
end

-- Forgets the oldest messages of an audit that has this many records too many.
local function forget(base, over)
  local old, records = {}, 0
  local oldest = call('XRANGE', base .. 'audit', '-', '+', 'COUNT', FORGET_TOGETHER)
  for _, message in ipairs(oldest) do
    -- None in an empty message: somebody else's.
    local count = byte(message[2][2], 1) or 0
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
  for _, command in ipairs(partition) do
    call(unpack(command))
  end
  local records = partition.records
  if records then
    local audited, audit = partition.base .. 'audited', partition.base .. 'audit'
    local message = char(#records) .. time_bytes .. table.concat(records)
    local over = call('INCRBY', audited, #records) - ARGV[1]
    local id = try('XADD', audit, 'NOMKSTREAM', '*', 'r', message)
    if type(id) == 'table' then
      -- Callers repeat items that fail: what is not added must not count.
      call('DECRBY', audited, #records)
      error(id)
    elseif not id then
      -- There is no stream yet, or somebody has deleted it and left its count.
      call('SET', audited, #records)
      over, id = 0, call('XADD', audit, '*', 'r', message)
    end
    if #id > STREAM_ID_MAX then
      -- The clock was set back, so the stream goes on in the last millisecond that it knows.
      call('XSETID', audit, score(sub(id, 1, 13) + 1) .. '-0')
    end
    if over > ARGV[1] / FORGET_PART then
      forget(partition.base, over)
    end
  end
end

local function failed(problem)
  return { 'failed', type(problem) == 'table' and problem.err or tostring(problem) }
end

-- A server without memory refuses a script's first change if that may need some, and takes all that follow. For scripts that it must
-- take: a first change that needs none and changes nothing.
local function need_no_memory()
  try('ZREM', place(KEYS[1]).base .. 'leases', '')
end

-- Writes new entries one by one, but for those whose partition has a problem, and those that are there after all: those are no
-- entries, but values of another type that somebody has put there, which no read of entries shows.
local function create_one_by_one(answers)
  for n, i in ipairs(created_items) do
    if created_partitions[n].problem then
      answers[i + 1] = created_partitions[n].problem
    elseif not call('SET', created[2 * n - 1], created[2 * n], 'NX') then
      answers[i + 1] = failed('WRONGTYPE the key of an entry holds something else')
    end
  end
end

-- After an error: whoever was removed from an index is in it again, to be looked at next.
local function put_back(partition)
  for index, removed in pairs(REMOVED) do
    for n = 3, #(partition[removed] or {}) do
      try('ZADD', partition.base .. index, (index == 'leases' or index == 'expiries') and score(time) or '0', partition[removed][n])
    end
  end
end

-- Makes the planned changes. An error in the index of a partition fails the items of that partition alone, and their entries stay as
-- they were: an index may have a member too many, and those are corrected when they are used.
local function make_changes(answers)
  local has_problem = false
  for _, partition in ipairs(partitions) do
    local ok, problem = pcall(index, partition)
    if not ok then
      partition.problem, has_problem = failed(problem), true
      put_back(partition)
    end
  end
  if #created > 0 and (has_problem or call('MSETNX', unpack(created)) == 0) then
    create_one_by_one(answers)
  end
  for n, i in ipairs(items) do
    local problem, value, expiry = item_partitions[n].problem, item_values[n], item_expiries[n]
    if problem then
      answers[i + 1] = problem
    elseif not value then
      call('DEL', item_keys[n])
    elseif expiry then
      call('SET', item_keys[n], value, 'PX', expiry)
    else
      call('SET', item_keys[n], value)
    end
  end
  return answers
end

local function whole(first, last)
  return call('MGET', unpack(KEYS, first, last))
end

-- For entries that may have results. Most keys are new, which one command tells. A string that is longer than SMALL_BYTES is cut off.
local function beginnings(first, last)
  local raws = {}
  if call('EXISTS', unpack(KEYS, first, last)) > 0 then
    for i = first, last do
      local raw = try('GETRANGE', KEYS[i], 0, SMALL_BYTES)
      raws[i - first + 1] = raw ~= '' and raw
    end
  end
  return raws
end

-- An error if a partition does not have the mark of the store: it was emptied, or the server is another one. Nothing was changed then.
local function forgotten()
  if ARGV[4] == '0' then
    return nil
  end
  for _, mark in ipairs(call('MGET', unpack(KEYS, #KEYS - ARGV[4] + 1))) do
    if not mark or sub(mark, 1, #ARGV[3]) ~= ARGV[3] then
      return redis.error_reply('FORGOTTEN the entries are gone, or another store is in their place: see onlyonce store accept')
    end
  end
end

-- Does the items and answers for each. An item that fails is answered with its error and fails no other.
local function answer(width, item, read)
  local refusal = forgotten()
  if refusal then
    return refusal
  end
  local answers, room = { time }, ANSWER_BYTES
  local count = (#ARGV - FIXED) / width
  for first = 1, count, READ_TOGETHER do
    local last = math.min(first + READ_TOGETHER - 1, count)
    local raws = (read or whole)(first, last)
    for i = first, last do
      local raw, found = raws[i - first + 1], nil
      if type(raw) == 'table' then
        found = failed(raw)
      elseif raw and byte(raw, 1) ~= FORMAT then
        found = failed('an entry was written by another release')
      else
        local ok, result = pcall(item, i, KEYS[i], raw, FIXED + 1 + (i - 1) * width)
        found = ok and result or failed(type(result) == 'string' and 'an entry cannot be read: ' .. result or result)
      end
      answers[i + 1] = found
      if type(found) == 'string' then
        room = room - #found
      end
      if room < 0 then
        return make_changes(answers)
      end
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

-- The same for entries that do not expire.
local NEVER = { at = 0, bytes = time_bytes .. pack('>d', 0), score = '0' }

-- Ends a claim, an abandoned entry or a doubt; the caller has checked that the state allows it. The first change needs no memory, so
-- that a server without any takes settlements. Without a token, somebody else than the owner does it. Answers when it expires, 0 for
-- never.
local function settle(i, key, raw, to, token, result, named, why)
  local head = sub(raw, TERMS, head_end(raw))
  local partition, member = place(key)
  local from, flags = byte(raw, 2), (token and TOKEN or 0) + (result and RESULT or 0)
  local ended = to ~= UNKNOWN and expiry(number(raw, RETENTION_MS)) or NEVER
  local native = to ~= UNKNOWN and native_expiry(ending(to, ended.at, number(raw, TOMBSTONE_MS)))
  -- Nothing is planned before this: all that may fail for a damaged entry comes first.
  remove(partition, from == UNKNOWN and 'unknown' or 'leases', member)
  add(partition, to == UNKNOWN and 'unknown' or 'expiries', ended.score, member)
  local own = ARGV[2] ~= '1' and token and (to == COMPLETED or to == FAILED) and time <= number(raw, LEASE)
  if own then
    flags = flags + OWN + has(byte(raw, 3), FIRST)
  else
    record(partition, member, raw, from, to, sub(raw, 4, 7), time_bytes, named, why, token)
  end
  local kept = token and sub(raw, 4, SETTLED - 1) or sub(raw, 4, TOKEN_AT - 1) .. NO_TOKEN
  write(i, partition, key,
    char(FORMAT, to, flags) .. kept .. ended.bytes .. head .. (own and why or '') .. (result or ''), native)
  return ended.at
end

local function lost(raw)
  return { 0, shown(raw) }
end
