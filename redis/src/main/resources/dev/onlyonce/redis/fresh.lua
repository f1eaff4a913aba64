-- Claims keys that nothing is stored for. All other items are left.
local TAIL = TOKEN_AT - 1
local TAIL_OPERATION = OPERATION - TAIL
local leases = {}
local function lease_of(ms)
  local found = leases[ms]
  if not found then
    local at = time + ms * 1000
    found = { score = score(at), bytes = pack('>d', at) }
    found.times = time_bytes .. found.bytes
    leases[ms] = found
  end
  return found
end

local LISTS = { 'ids', 'leases', 'entries' }

local function create_fresh(partition)
  call('ZADD', partition.base .. 'ids', unpack(partition.ids))
  call('ZADD', partition.base .. 'leases', unpack(partition.leases))
  if call('MSETNX', unpack(partition.entries)) == 0 then
    error('an entry is there')
  end
end

local function claim_fresh(count)
  local are_all = call('EXISTS', unpack(KEYS, 1, count)) == 0
  left = {}
  for i = 1, count do
    local key = KEYS[i]
    if are_all or call('EXISTS', key) == 0 then
      local head, tail = ARGV[FIXED + 2 * i - 1], ARGV[FIXED + 2 * i]
      local partition, lease = group_of(key, LISTS), lease_of(number(tail, LEASE_MS - TAIL))
      local member, n = sub(key, #start + 1), partition.count + 1
      local ids, leased, entries, even = partition.ids, partition.leases, partition.entries, 2 * n
      partition.count, partition.items[n] = n, i
      ids[even - 1], ids[even] = '0', member
      leased[even - 1], leased[even] = lease.score, member
      entries[even - 1], entries[even] = key, head .. lease.times .. tail
      answers[i + 1] = byte(head, 7)
    else
      left[#left + 1] = i
    end
  end
  for _, partition in ipairs(groups) do
    if not pcall(create_fresh, partition) then
      leave(partition)
    end
  end
end

claim_fresh((#ARGV - FIXED) / 2)
if #left == 0 then
  return answers
end
