-- What processes of a gateway share through one server, by its own time. Amounts are whole numbers up to 2^53, passed as texts;
-- names and frames are opaque. KEYS[1] begins all names, and has the number of the data's form. ARGV: operation, milliseconds
-- of a lease, then the words of the operation in their order.
local prefix, leaseMs, operations = KEYS[1], tonumber(ARGV[2]), {}
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local NEVER = math.huge

local place = 2
local function word()
  place = place + 1
  return ARGV[place]
end
local function number() return tonumber(word()) end
local function text(amount) return amount == NEVER and '' or string.format('%.17g', amount) end
local function numberOr(value, other) return value and value ~= '' and tonumber(value) or other end

-- Answers under idempotency keys: what src/cluster/exchange/memory-answer-store.ts does in memory. -----------------------------------
local function keyOf(name) return prefix .. 'a:' .. name end
local function framesOf(name, run, telling) return prefix .. 'f:' .. name .. ':' .. run .. ':' .. telling end
local function failedOf(name, run) return prefix .. 'e:' .. name .. ':' .. run end

-- Complete answers in the order in which they expire, and what they weigh together.
local order, weight = prefix .. 'ao', prefix .. 'aw'
local function drop(member)
  redis.call('ZREM', order, member)
  local chars, name, run, telling = string.match(member, '^(%d+) (%S+) (%S+) (%S+)$')
  redis.call('DECRBY', weight, chars)
  if redis.call('HGET', keyOf(name), 'run') == run then redis.call('DEL', keyOf(name)) end
  redis.call('DEL', framesOf(name, run, telling))
end

local function keepAnswer(name, run, telling, chars, keepsMs, mostChars)
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', order, '-inf', now)) do drop(member) end
  redis.call('ZADD', order, now + keepsMs, chars .. ' ' .. name .. ' ' .. run .. ' ' .. telling)
  redis.call('INCRBY', weight, chars)
  while tonumber(redis.call('GET', weight)) > mostChars do
    local member = redis.call('ZRANGE', order, 0, 0)[1]
    if not member then redis.call('SET', weight, 0) break end
    drop(member)
  end
  for _, key in ipairs({ order, weight }) do redis.call('PEXPIRE', key, keepsMs * 2 + 60000) end
end

function operations.begin()
  local name, fingerprint, run = word(), word(), word()
  local key = keyOf(name)
  local known = redis.call('HMGET', key, 'fingerprint', 'run', 'state')
  if not known[1] then
    redis.call('HSET', key, 'fingerprint', fingerprint, 'run', run, 'telling', '0', 'state', 'running')
    redis.call('PEXPIRE', key, leaseMs)
    return { 'mine' }
  end
  if known[1] ~= fingerprint then return { 'conflict' } end
  if known[3] == 'large' then return { 'large' } end
  redis.call('HSET', key, 'heard', now)
  return { 'theirs', known[2] }
end

local function hearAnswer(failedMs, heardMs)
  local name, fingerprint, run, telling, told, state = word(), word(), word(), word(), number(), word()
  local keepsMs, mostChars, frameCount = number(), number(), number()
  local first = place
  place = place + frameCount
  local key, frames = keyOf(name), framesOf(name, run, telling)
  local known = redis.call('HMGET', key, 'run', 'telling', 'heard', 'state')
  if known[1] and known[1] ~= run then return 'lost' end
  if not known[1] or known[2] ~= telling then
    if told > 0 then return 'again' end
    if known[1] then redis.call('DEL', framesOf(name, run, known[2])) end
    redis.call('HSET', key, 'fingerprint', fingerprint, 'run', run, 'telling', telling)
  end
  local length = redis.call('LLEN', frames)
  if length < told then return 'again' end
  -- Those that were told already are told again where the reply was lost.
  for each = first + 1 + length - told, first + frameCount do redis.call('RPUSH', frames, ARGV[each]) end
  if state == 'failed' then
    redis.call('DEL', key)
    redis.call('SET', failedOf(name, run), telling, 'PX', failedMs)
    redis.call('PEXPIRE', frames, failedMs)
  else
    redis.call('HSET', key, 'state', state)
    local forMs = state == 'complete' and keepsMs or leaseMs
    for _, each in ipairs({ key, frames }) do redis.call('PEXPIRE', each, forMs) end
    if state == 'complete' and known[4] ~= 'complete' then
      local chars = 0
      for _, frame in ipairs(redis.call('LRANGE', frames, 0, -1)) do chars = chars + #frame end
      keepAnswer(name, run, telling, chars, keepsMs, mostChars)
    end
  end
  return now - numberOr(known[3], -heardMs) < heardMs and 'heard' or 'unheard'
end

local function tell(mostFrames)
  local name, run, telling, from = word(), word(), word(), number()
  local known = redis.call('HMGET', keyOf(name), 'run', 'telling', 'state')
  local isThere = known[1] == run
  local isTold = isThere and known[2] or redis.call('GET', failedOf(name, run))
  if not isTold then return { 'gone', telling, 0 } end
  if isThere then redis.call('HSET', keyOf(name), 'heard', now) end
  if isTold ~= telling then from = 0 end
  local frames = framesOf(name, run, isTold)
  return { isThere and known[3] or 'failed', isTold, redis.call('LLEN', frames),
    unpack(redis.call('LRANGE', frames, from, from + mostFrames - 1)) }
end

-- Begins with the milliseconds of a failed answer and of a listener, and the most frames of a reply.
function operations.exchange()
  local failedMs, heardMs, mostFrames = number(), number(), number()
  local heard, told = {}, {}
  for each = 1, number() do heard[each] = hearAnswer(failedMs, heardMs) end
  for each = 1, number() do told[each] = tell(mostFrames) end
  return { heard, told }
end

-- Each call makes all functions anew that come before its own.
if operations[ARGV[1]] then return operations[ARGV[1]]() end

-- Counters that processes share: what src/accounts/limits/shared-counter.ts does in memory. Begin with holder and turn. -----------
local holder, turn = word(), number()
local REVIEW_LEASES, LOOK_MS, CLOCKS_DIFFER_MS, LONGEST_MS = 10, 1000, 10000, 40 * 86400000
local heard, turns = prefix .. 'heard', prefix .. 'turns'

-- Milliseconds until everybody has reported again, and the time since which this server has its data. A new server has lost data:
-- it is found by its run id, each second, and where it does not know the script.
local function settles()
  local since = redis.call('HMGET', prefix .. 'since', 'run', 'ms', 'looked')
  local ms = numberOr(since[2])
  if not ms or #KEYS > 1 or now - numberOr(since[3], 0) >= LOOK_MS then
    local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
    if not ms or since[1] ~= run then ms = now end
    redis.call('HSET', prefix .. 'since', 'run', run, 'ms', text(ms), 'looked', text(now))
  end
  return math.max(0, ms + leaseMs - now), ms
end

-- State of a counter in one period, packed into one field: scripts spend their time on calls.
local FIELDS = {
  'total', 'settled', 'known', 'vanished', 'reviewAt', 'changedAt', 'firstRemains', 'lastRemains', 'fence', 'startedAt',
  'settledAtStart', 'lastAtStart', 'made', 'window', 'inLedger', 'nextAt', 'keptUntil', 'restoredAt',
}
local opened = {}
local function opening(key)
  opened[key] = { key = key, index = key .. ':e', cells = {}, changes = {} }
  return opened[key]
end

-- Nil where there is none. Also reads a cell of it.
local function open(name, period, member)
  local key = prefix .. 'n:' .. name .. ':' .. period
  if opened[key] then return opened[key] end
  local values = redis.call('HMGET', key, 's', member or 's')
  if not values[1] then return nil end
  local counter = opening(key)
  for at, value in ipairs(cmsgpack.unpack(values[1])) do counter[FIELDS[at]] = value end
  if member then counter.cells[member] = values[2] and cmsgpack.unpack(values[2]) end
  return counter
end

local function save()
  for _, counter in pairs(opened) do
    local keepsMs = (counter.window > 0 and counter.window or LONGEST_MS) + leaseMs + 60000
    local isKept = counter.keptUntil - now > keepsMs / 2
    if not isKept then counter.keptUntil = now + keepsMs end
    local values = {}
    for at, field in ipairs(FIELDS) do values[at] = counter[field] end
    redis.call('HSET', counter.key, 's', cmsgpack.pack(values), unpack(counter.changes))
    if not isKept then
      for _, key in ipairs({ counter.key, counter.index }) do redis.call('PEXPIRE', key, keepsMs) end
    end
  end
end

-- For one that is not there. Nil where its period is long over. Window -1: the period.
local function make(name, period, window, isInLedger)
  local list, oldest = prefix .. 'np:' .. name, nil
  if isInLedger == 1 then
    local periods = redis.call('ZRANGE', list, 0, -1)
    local isFull = #periods >= 2
    if isFull and period + 0 < tonumber(periods[1]) then return nil end
    oldest = periods[1] and open(name, periods[1])
    redis.call('ZADD', list, period, period)
    redis.call('PEXPIRE', list, LONGEST_MS)
    if isFull then
      local key = prefix .. 'n:' .. name .. ':' .. periods[1]
      redis.call('ZREM', list, periods[1])
      redis.call('DEL', key, key .. ':e')
      opened[key] = nil
    end
  end
  -- The ledger has nothing to add to a period that began while this server was watching.
  local isWatched = oldest and oldest.made + CLOCKS_DIFFER_MS <= period + 0
  local key = prefix .. 'n:' .. name .. ':' .. period
  local counter = opening(key)
  for _, field in ipairs(FIELDS) do counter[field] = 0 end
  counter.known = (isInLedger == 0 or isWatched) and 1 or 0
  counter.made, counter.window, counter.inLedger = now, window, isInLedger
  counter.reviewAt, counter.nextAt = NEVER, NEVER
  return counter
end

-- Milliseconds until which something counts that was counted so long ago.
local function untilMs(counter, age) return counter.window > 0 and now - age + counter.window or NEVER end

local function indexAt(counter, member, atMs)
  if atMs == NEVER then
    redis.call('ZREM', counter.index, member)
    return
  end
  redis.call('ZADD', counter.index, text(atMs), member)
  counter.nextAt = math.min(counter.nextAt, atMs)
end

local function remain(counter, amount, ends, isVanished)
  if amount <= 0 or ends <= now then return end
  counter.lastRemains, counter.total = counter.lastRemains + 1, counter.total + amount
  counter.vanished = counter.vanished + isVanished
  local member = 'r:' .. text(counter.lastRemains)
  redis.call('HSET', counter.key, member, cmsgpack.pack({ amount, isVanished }))
  indexAt(counter, member, ends)
end

local function dropRemains(counter, member)
  local packed = redis.call('HGET', counter.key, member)
  if not packed then return end
  local amount, isVanished = unpack(cmsgpack.unpack(packed))
  counter.total, counter.vanished = counter.total - amount, counter.vanished - isVanished
  redis.call('HDEL', counter.key, member)
  redis.call('ZREM', counter.index, member)
end

-- A cell: used, settled, 1 while it is open, and when it ends.
local function cellOf(counter, member)
  if counter.cells[member] == nil then
    local packed = redis.call('HGET', counter.key, member)
    counter.cells[member] = packed and cmsgpack.unpack(packed)
  end
  return counter.cells[member]
end

local function dropCell(counter, member, cell)
  counter.total, counter.settled = counter.total - cell[1], counter.settled - cell[2]
  counter.cells[member] = false
  redis.call('HDEL', counter.key, member)
  redis.call('ZREM', counter.index, member)
end

-- True for what comes to an end with its process.
local function isWatched(counter, cell) return cell[3] == 1 and (counter.inLedger == 1 or counter.window == 0) end

local function expire(counter)
  if counter.nextAt > now then return end
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', counter.index, '-inf', text(now))) do
    local who = string.match(member, '^h:([^:]*)')
    local cell = who and cellOf(counter, member)
    if cell then
      local alive = isWatched(counter, cell) and numberOr(redis.call('ZSCORE', heard, who), 0) + leaseMs or NEVER
      if math.min(cell[4], alive) > now then
        indexAt(counter, member, math.min(cell[4], alive))
      else
        dropCell(counter, member, cell)
        if counter.window ~= 0 then remain(counter, cell[1], cell[4], 1) end
      end
    elseif not who then dropRemains(counter, member) end
  end
  local first = redis.call('ZRANGE', counter.index, 0, 0, 'WITHSCORES')
  counter.nextAt = numberOr(first[2], NEVER)
end

-- What is settled near the time at which the ledger is read may count twice: another look corrects that.
local function changed(counter, atMs)
  counter.changedAt = atMs
  if atMs < counter.restoredAt + leaseMs then counter.reviewAt = counter.restoredAt + REVIEW_LEASES * leaseMs end
end

-- Takes a cell, which replaces what was there; `write` keeps it once requests are granted.
local function put(counter, one)
  one.member, one.ends = 'h:' .. one.cell, untilMs(counter, one.age)
  local before = cellOf(counter, one.member)
  one.before = before
  if one.ends <= now then one.used, one.settled = 0, 0 end
  if (before and before[2] or 0) ~= one.settled then changed(counter, now) end
  counter.total = counter.total + one.used - (before and before[1] or 0)
  counter.settled = counter.settled + one.settled - (before and before[2] or 0)
end

local function write(counter, one)
  if one.used <= 0 then
    if not one.before then return end
    redis.call('HDEL', counter.key, one.member)
    redis.call('ZREM', counter.index, one.member)
    return
  end
  local before, cell = one.before, { one.used, one.settled, one.open, one.ends }
  table.insert(counter.changes, one.member)
  table.insert(counter.changes, cmsgpack.pack(cell))
  local watched = isWatched(counter, cell)
  if before and before[4] == one.ends and isWatched(counter, before) == watched then return end
  indexAt(counter, one.member, math.min(one.ends, watched and now + leaseMs or NEVER))
end

-- Amounts that are granted, or the index of the one that is not.
local function request(cells, settlesMs)
  local wanted, granted, refused = {}, {}, nil
  for index = 1, number() do
    local one = { cell = cells[number() + 1], limit = number(), need = number(), want = number(), clips = word() == '1' }
    local counter = one.cell.counter
    local mayGrant = counter and settlesMs == 0 and counter.known == 1
    local free = mayGrant and math.max(0, one.limit - counter.total) or 0
    if not refused and (not counter or free < one.need) then refused = index - 1 end
    wanted[index] = one
    granted[index] = text(one.clips and math.min(one.want, free) or one.want)
  end
  if refused then return refused end
  for index, one in ipairs(wanted) do
    local cell, amount = one.cell, tonumber(granted[index])
    cell.used, cell.open = cell.used + amount, 1
    cell.counter.total = cell.counter.total + amount
  end
  return granted
end

local function isHeard(heardAt)
  if heardAt > 0 and now - heardAt >= leaseMs then return false end
  if turn <= numberOr(redis.call('HGET', turns, holder), 0) then return false end
  local gone = redis.call('ZRANGEBYSCORE', heard, '-inf', text(now - leaseMs), 'LIMIT', 0, 100)
  if #gone > 0 then
    redis.call('ZREM', heard, unpack(gone))
    redis.call('HDEL', turns, unpack(gone))
  end
  redis.call('ZADD', heard, now, holder)
  redis.call('HSET', turns, holder, text(turn))
  return true
end

function operations.take()
  local heardAt, cellCount, requestCount = number(), number(), number()
  local settlesMs, epoch = settles()
  local isTaken = isHeard(heardAt)
  local answer = { text(now), isTaken and '0' or '1', text(epoch), text(redis.call('ZCARD', heard)), text(settlesMs) }
  if not isTaken then return { answer, {}, {} } end
  local cells = {}
  for at = 1, cellCount do
    local name, period, window, isInLedger = word(), word(), number(), number()
    local cell = word()
    local counter = open(name, period, 'h:' .. cell) or make(name, period, window, isInLedger)
    local one = { counter = counter, cell = cell, used = number(), settled = number(), open = number(), age = number() }
    cells[at] = one
    if counter then
      expire(counter)
      put(counter, one)
    end
  end
  local granted, states = {}, {}
  for at = 1, requestCount do granted[at] = request(cells, settlesMs) end
  for at, one in ipairs(cells) do
    local counter = one.counter
    if counter then write(counter, one) end
    local needs = counter and counter.inLedger == 1
      and (counter.known == 0 or counter.vanished > 0 or counter.reviewAt <= now)
    states[2 * at - 1] = text(counter and counter.total or 0)
    states[2 * at] = (needs and 1 or 0) + (counter and counter.known == 0 and 2 or 0)
  end
  save()
  return { answer, states, granted }
end

function operations.restoring()
  local settlesMs, answer = settles(), {}
  while place < #ARGV do
    local counter = open(word(), word())
    local isFree = counter and settlesMs == 0 and (counter.fence == 0 or counter.startedAt + leaseMs <= now)
    if isFree then
      expire(counter)
      counter.fence, counter.startedAt = redis.call('INCR', prefix .. 'fence'), now
      counter.settledAtStart, counter.lastAtStart = counter.settled, counter.lastRemains
    end
    answer[#answer + 1] = isFree and text(counter.fence) or ''
  end
  redis.call('PEXPIRE', prefix .. 'fence', LONGEST_MS)
  save()
  return answer
end

function operations.restored()
  local answer = {}
  while place < #ARGV do
    local counter, fence, parts = open(word(), word()), number(), number()
    local isTaken = counter and counter.fence == fence and counter.startedAt + leaseMs > now
    local counted = isTaken and counter.settledAtStart or 0
    if isTaken then
      expire(counter)
      for at = counter.firstRemains, counter.lastAtStart do dropRemains(counter, 'r:' .. text(at)) end
      counter.firstRemains = counter.lastAtStart + 1
    end
    for _ = 1, parts do
      local amount, age = number(), number()
      local seen = math.min(counted, amount)
      counted = counted - seen
      if isTaken then remain(counter, amount - seen, untilMs(counter, age), 0) end
    end
    if isTaken then
      counter.known, counter.fence, counter.restoredAt, counter.reviewAt = 1, 0, now, NEVER
      if counter.changedAt + leaseMs > counter.startedAt then changed(counter, counter.changedAt) end
    end
    answer[#answer + 1] = isTaken and '1' or '0'
  end
  save()
  return answer
end

return operations[ARGV[1]]()
