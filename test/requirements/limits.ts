// Limits and budgets: what counts them, by itself, and what they do to requests.
import { HOLDING, later, shown, type Requirements } from './requirement.ts';

const LIMITS = 'limits and budgets';
const T_LIMITS = 'test/unit/accounts/limits.test.ts';
const WINDOWS = 'test/unit/accounts/limits-windows.test.ts';
const WINDOWS_ORACLE = 'test/unit/accounts/limits-oracle.test.ts';
const CONSERVATION = 'test/unit/accounts/limits-conservation.test.ts';
const RESTORE = 'test/unit/accounts/limits-restore.test.ts';
const STORE = 'test/contract/limits/counter-store-contract.ts';
const STEPS = 'test/unit/cluster/sharing/steps.test.ts';
const SIMULATION = 'test/unit/cluster/sharing/simulation.test.ts';
const GATEWAYS = 'test/socket/cluster/valkey-gateways.test.ts';
const ANSWERS = 'test/socket/cluster/answers.test.ts';
const PUB_SUB = 'test/unit/cluster/pub-sub.test.ts';
const ROUTING = 'test/unit/cluster/routing.test.ts';
const TLS = 'test/socket/cluster/valkey-tls.test.ts';
const LIMITS_HTTP = 'test/socket/accounts/limits-http.test.ts';
const EARLY = 'test/socket/server/early-refusals.test.ts';
const RESTART = 'test/socket/accounts/limits-restart.test.ts';
const STREAMS = 'test/scenarios/limits/limits-streams.test.ts';
const CROWD = 'test/scenarios/limits/limits-crowd.test.ts';
const AGREE = 'test/scenarios/limits/limits-agree.test.ts';
const CRASHES = 'test/crash/limits-crashes.test.ts';
const NAMES = 'test/scenarios/end-user-names.test.ts';
const WAYS = 'test/scenarios/limits/limits-ways.test.ts';
const KILL = 'test/crash/limits-kill.test.ts';
const VENDORS = 'test/scenarios/limits/limits-providers.test.ts';
const COMMAND = 'test/socket/accounts/limits-command.test.ts';
const USAGE = 'usage and retention';
const SUMS = 'test/contract/storage/usage.test.ts';
const LIST = 'test/contract/storage/ledger-list.test.ts';
const OUTAGE = 'test/socket/storage/postgres-outage.test.ts';
const OUTAGES = 'test/socket/cluster/outages-http.test.ts';
const FULL_DISK = 'test/crash/full-disk.test.ts';
const CONFIRMED = 'test/unit/storage/ledger-confirmed.test.ts';
const JOURNAL = 'test/unit/storage/journal.test.ts';
const RETENTION = 'test/contract/storage/ledger-retention.test.ts';
const USAGE_COMMAND = 'test/socket/accounts/usage-command.test.ts';

export const limitsRequirements: Requirements = {
  'contract.limits.windows': shown(
    LIMITS,
    'Days, weeks and months begin in their time zone, also where clocks change; rates are rolling and have no edge.',
    `${WINDOWS}: %s in %s at %s`,
    `${WINDOWS}: gives each unit back one window after it was taken`,
    `${T_LIMITS}: accepts its limit in a minute of hammering, with no second burst at an edge`,
    `${T_LIMITS}: loses no more than is asked late`,
    `${T_LIMITS}: moves no two bursts together: what is asked a moment late counts from then`,
    `${WINDOWS_ORACLE}: no window of a rate holds more than its limit, whoever asks when`,
    `${CROWD}: on a rate are let through as often as it says, with no second burst at an edge`,
  ),
  'contract.limits.unshared': shown(
    LIMITS,
    'Several processes on one database without a server to share limits through are warned of it.',
    'test/unit/app/watch-replicas.test.ts: several processes without a server to share limits through are warned, once and where a limit is made',
    'test/unit/app/watch-replicas.test.ts: one that takes the place of another is not warned, nor is one that shares limits',
    'test/unit/app/watch-replicas.test.ts: on PostgreSQL, processes that start at once all see each other',
  ),
  'contract.limits.budget': shown(
    LIMITS,
    'A budget is reserved before an answer, compared while it streams, and charged once with what it cost.',
    `${T_LIMITS}: is reserved by running requests, and charged with what they cost`,
    `${T_LIMITS}: stops a running answer when what it costs is more than is left`,
    `${T_LIMITS}: lets running answers end where it says so`,
    `${T_LIMITS}: refuses what has no price, unless it may pass uncounted`,
    `${STREAMS}: ends with a native error, and the next request is a 402`,
    `${STREAMS}: may end where the budget says so, and the next request does not begin`,
    `${CROWD}: with streams on a dollar a day spend no more than it and a step of each that was running`,
  ),
  'contract.limits.refusal': shown(
    LIMITS,
    'A refusal names the limit, whose it is, how much of it is used, and when it frees.',
    `${T_LIMITS}: a refusal names the limit, whose it is, how much is used, and when it frees`,
    `${T_LIMITS}: the one is told that lasts longest`,
    `${LIMITS_HTTP}: refuses what is too much, says which and when, and frees by the time it said`,
    `${LIMITS_HTTP}: refuses in the shape of each protocol`,
  ),
  'contract.limits.early': shown(
    LIMITS,
    'Where limits have no room for any request, one is refused without being read: told and recorded as others are.',
    `${EARLY}: is told and recorded as if it had been read: %s`,
    `${EARLY}: is not parsed, and is refused whatever is wrong with it`,
    `${EARLY}: gets the answer that its idempotency key has`,
    `${EARLY}: may have its tokens counted`,
    `${EARLY}: is a budget that is used up for longer`,
    `${EARLY}: is a limit for models, and nothing is refused for one of others`,
    `${EARLY}: is the limit of an end user`,
    `${EARLY}: gets a hundred refusals at once, the others one after another, and slows nobody else: %s`,
    `${EARLY}: nobody looks at a request whose client has left meanwhile`,
    `${EARLY}: has what became free while a request waited`,
    `${EARLY}: is answered as ever what costs nothing, when its money is spent`,
    `${EARLY}: takes as many at a time as have to pass, so that nobody waits longer than is allowed`,
  ),
  'contract.limits.conservation': shown(
    LIMITS,
    'Whatever happens in whatever order, no more is spent than a limit and its bound, and nothing stays reserved.',
    `${CONSERVATION}: with requests, failures, crashes and reloads in any order`,
    `${CONSERVATION}: with clocks that jump as well`,
    `${CRASHES}: an answer with a search, killed before and after each of its steps`,
    `${CRASHES}: with crashes between any two steps, restarts and changed limits`,
    `${CRASHES}: with clocks that jump as well`,
    `${T_LIMITS}: a reservation that nobody settles is charged at its expiry`,
    `${T_LIMITS}: gives nothing back that came free while a long answer ran`,
    `${CROWD}: are never more at once than may be`,
    `${CROWD}: of a project that is at its limit take nothing from another`,
    `${AGREE}: after a mix of everything nothing is reserved, and what is used is what the records say`,
    `${KILL}: SIGKILL in the middle of streams: the budget knows what they had cost, nothing twice`,
  ),
  'contract.limits.turns': shown(
    LIMITS,
    'Each turn of an answer with tools of the gateway counts as a request, when it begins and after a restart.',
    `${WAYS}: each turn is a request, and what tools cost is charged`,
    `${WAYS}: a turn that fails counts what came before it`,
    `${WAYS}: are not in the way of turns that follow, and are exceeded by them for who comes next`,
  ),
  'contract.limits.ways': shown(
    LIMITS,
    'Whichever way an answer goes, counters, records and sums have the same of it, and nothing stays reserved.',
    `${WAYS}: counts once, and what it used`,
    `${WAYS}: a race that is lost charges what the loser was billed, and gives the rest back`,
    `${WAYS}: an answer that is replayed, and nothing for its replay`,
    `${WAYS}: each turn of a socket`,
    `${WAYS}: are told natively to a socket, whose next turn is admitted when there is room`,
    `${WAYS}: a restarted gateway has counted the same`,
  ),
  'contract.limits.end-users': shown(
    LIMITS,
    'End users are counted each for themselves, in bounded memory that errs towards refusing.',
    `${T_LIMITS}: has a count of its own, and those who are not named share one`,
    `${T_LIMITS}: is not forgotten for the better when there are too many`,
    `${T_LIMITS}: end users whom one owner invents are not counted for those of another`,
    `${CROWD}: who invent end users get no more for each, and those who name none share one`,
    `${NAMES}: names by the thousand are counted each for itself, in bounded memory`,
  ),
  'contract.limits.ledger': shown(
    LIMITS,
    'The ledger is the truth: counters are set from its sums, never added to.',
    `${RESTORE}: a start sets budgets, daily limits and rolling ones`,
    `${RESTORE}: what runs and what was settled meanwhile is counted once`,
    `${STORE}: is set, never added: what processes have settled is part of it`,
    `${RESTART}: a restarted gateway knows what was spent, and counts what was refused for nothing`,
    `${RESTART}: begin at what the ledger knows, and those that were there stay as they are`,
  ),
  'contract.limits.shared': shown(
    LIMITS,
    'Several processes share counters: the sum never exceeds the limit, whoever dies and whatever is lost.',
    `${SIMULATION}: limits hold, reservations return and nobody starves, whatever goes wrong`,
    `${SIMULATION}: rates hold, but for what was used by those who vanish with all the data of the store`,
    `${SIMULATION}: without the fence they do not hold`,
    'test/unit/cluster/sharing/resting.test.ts: a rate that a process used before it fell silent counts after the store has lost its data',
    'test/unit/cluster/sharing/resting.test.ts: a process that has used most of a rate gets the rest at once after it was silent',
    'test/unit/cluster/sharing/resting.test.ts: what a silent process uses while the store does not answer counts when it answers again',
    'test/unit/cluster/sharing/resting.test.ts: a count that was put away for others counts on when its end user comes again',
    `${STORE}: whatever happens in whatever order, processes together never get more than the limit`,
    `${STORE}: that comes late changes nothing`,
    `${STORE}: of a process that was not heard for too long is not taken`,
    `${STORE}: is asked again where something may have been settled while it was asked`,
    `${STORE}: is asked for a period that had begun before the store could watch, though somebody is in the one before it`,
    `${GATEWAYS}: spend of a budget no more than there is, and nearly all of it`,
    `${GATEWAYS}: let through what a rate allows in any second, and no more`,
    `${GATEWAYS}: overspend nothing when the server loses all its data under load, and refuse nobody for that`,
    `${GATEWAYS}: go on with their share while the server hangs, and share again when it answers`,
  ),
  'contract.limits.calls': shown(
    LIMITS,
    'A limited request makes two calls to the server of counters; requests that come together share them.',
    'test/unit/cluster/sharing/traffic.test.ts: a limited request makes two calls, and requests that come together share them',
    `${STORE}: gets of everything what it needs, or nothing`,
  ),
  'contract.limits.steps': shown(
    LIMITS,
    'A running answer under a shared budget reserves in steps, and waits for no store: after 250 ms its process decides.',
    `${STEPS}: an answer asks for the next step when three quarters of the one before are used`,
    `${STEPS}: a whole answer asks for nothing more as long as it was expected to cost so much`,
    `${STEPS}: answers of several processes together use up the budget, and end where it is spent`,
    `${STEPS}: an answer waits for nobody, and after 250 ms %s decides: at %i cents it goes on: %p`,
    `${STEPS}: a request that comes while the store falls silent waits for two calls, and no longer`,
    `${STEPS}: what is reserved and not used comes back when the answer ends`,
    `${STEPS}: what a process spent by itself that never came back is used once more, until the ledger is asked`,
  ),
  'contract.exchange.answers': shown(
    LIMITS,
    'An `Idempotency-Key` in flight holds over all processes: one upstream call, and the same bytes for all who wait.',
    `${ANSWERS}: a whole answer that one makes is had from the other, while it is made and later`,
    `${ANSWERS}: a stream is had as it comes, also when whoever caused it has left`,
    `${ANSWERS}: the server never has what was said in clear`,
    `${ANSWERS}: a failure in the stream reaches readers of both, and is forgotten`,
    `${ANSWERS}: a server that loses all it knows in the middle cuts no answer, and repeats nothing of it`,
    `${ANSWERS}: one that is too large to be kept cannot be had elsewhere while it is made`,
    `${ANSWERS}: readers of one that dies are told, and the next request is answered anew`,
    `${ANSWERS}: without the server each answers by itself`,
  ),
  'contract.exchange.tls': shown(
    LIMITS,
    'What processes share may go over TLS: `rediss://` or `valkeys://`, with `upstream.ca` for an own authority.',
    `${TLS}: %s:// trusts the authority that is configured`,
    `${TLS}: one whose authority nobody trusts is refused`,
    `${TLS}: one with a certificate for another name is refused`,
    `${TLS}: a gateway shares limits over it`,
  ),
  'contract.exchange.routing': shown(
    LIMITS,
    'What routing learns is told to other processes in the background, in few messages; decisions stay local.',
    `${ROUTING}: of one are known to the other, like its own`,
    `${ROUTING}: are told every two seconds at most, all in one message, and nothing where nothing is new`,
    `${ROUTING}: to be full is left alone by the other within a quarter of a second, as long as it asked`,
    `${ROUTING}: to be broken stays with one whose own attempts are good`,
    `${ROUTING}: what an operator does with it holds everywhere`,
  ),
  'contract.exchange.tenants': shown(
    LIMITS,
    'A change of a key or project is told to all processes at once.',
    `${PUB_SUB}: all others hear what one tells, in its order`,
    `${PUB_SUB}: a change is read by all others, once, and nobody tells it on`,
    `${PUB_SUB}: a connection that broke is made again with the next look`,
  ),
  'contract.limits.providers': shown(
    LIMITS,
    'A provider that has used up what its vendor allows is passed over until it frees.',
    `${VENDORS}: is passed over, says so in the route table, and comes back`,
    `${VENDORS}: becomes the client's 429 only where all are, with the time that frees the first`,
    `${VENDORS}: is believed where it is about the same limit`,
  ),
  'contract.limits.told': shown(
    LIMITS,
    'Every answer, an explanation and a command tell what is left.',
    `${LIMITS_HTTP}: are told to Messages clients under their own names`,
    `${LIMITS_HTTP}: has the limits that count the request, and says whether it would begin`,
    `${COMMAND}: prints every limit of every owner, and what is used of it`,
  ),
  'contract.limits.leases': later(
    LIMITS,
    HOLDING,
    'What processes are granted of a limit never exceeds it together, whoever dies.',
    `${STORE}: whatever happens in whatever order, processes together never get more than the limit`,
    `${STORE}: count as long as their process is heard, and end with it`,
    `${STORE}: replaces what a dead process had reserved, and leaves what it had settled`,
  ),
  'contract.usage.sums': shown(
    USAGE,
    'Sums by hour, day and whatever records are of equal the records, to the nano-dollar, also after a crash.',
    `${SUMS}: sums by time and by what records are of are those of the records, before and after days are put together`,
    `${SUMS}: a record counts once, however often its entry is brought in`,
    `${SUMS}: sums that a process had in memory when it died are added up by the next`,
    `${SUMS}: processes that count at once, and bring in the same, come to the sums of the records`,
    `${SUMS}: limits are set from sums of the records since any millisecond, by owner, model and end user`,
  ),
  'contract.usage.attempts': shown(
    USAGE,
    'A request that failed counts under the model that was asked for and the provider that was tried last; attempts count where they were made.',
    `${SUMS}: a request that failed counts under what was asked and tried last, and each attempt where it was made`,
    `${SUMS}: sums of a day that are wrong are added up again from its records`,
  ),
  'contract.usage.start': shown(
    USAGE,
    'While limits are read from the ledger, requests wait that it knows something of.',
    `${RESTORE}: while the ledger is read for long, requests wait that it knows something of, and no others`,
  ),
  'contract.usage.bounded': shown(
    USAGE,
    'End users by the million take a bounded number of rows, and what has no room is counted together.',
    `${SUMS}: an hour has room for so many end users of a project; the others are counted together`,
  ),
  'contract.usage.list': shown(
    USAGE,
    'Generations are listed by filters, in order and page by page.',
    `${LIST}: what passes is listed in the order of the requests, page by page, whatever of it is in the sums`,
  ),
  'contract.usage.several': shown(
    USAGE,
    'Processes that write at once come to the sums of their records, in each database.',
    `${SUMS}: processes that count at once, and bring in the same, come to the sums of the records`,
  ),
  'contract.usage.durability': shown(
    USAGE,
    'The end of an answer waits for the database where it is asked to, but for none that is slow or gone.',
    `${CONFIRMED}: an answer waits until its record is in the database, with all that came in the same turn`,
    `${CONFIRMED}: a database that is slow is waited for once, and again when it has taken something`,
    `${CONFIRMED}: a database that is gone holds up nobody, and gets what came meanwhile in order and once`,
    `${CONFIRMED}: a journal that is nearly full is told once, and once that it has room again`,
    `${JOURNAL}: a journal that is never empty does not grow, and of a long one most is in its files alone`,
    `${JOURNAL}: where somebody waits for the database as well, what the disk does not take is kept in memory, in order`,
  ),
  'contract.usage.outage': shown(
    USAGE,
    'PostgreSQL stopped or silent in the middle of everything loses and doubles no record and no stored turn, and heals without a restart.',
    `${OUTAGE}: that is stopped in the middle of everything and started again has every record once`,
    `${OUTAGE}: that goes away while answers are given has what was stored of them, in their conversation and in order`,
    `${OUTAGE}: that falls silent is treated as one that is gone, by those who write and by those who read`,
    `${OUTAGE}: that is away when a process ends gets its records from the next one`,
  ),
  'contract.usage.outage-told': shown(
    USAGE,
    'While PostgreSQL or the server of counters is away, clients of each protocol are served or told so in its own shape.',
    `${OUTAGES}: what needs nothing stored goes on, the rest is told so in its own protocol, and nothing is lost`,
    `${OUTAGES}: requests under a limit go on with a share of it, or without it (%s)`,
    `${OUTAGES}: requests under a limit are refused, where that is wanted`,
  ),
  'contract.usage.full-disk': shown(
    USAGE,
    'A full disk is told, follows `ledger.when_full`, and heals without a restart.',
    `${FULL_DISK}: with when_full: serve, everybody is answered, and what the ledger cannot take is in the log`,
    `${FULL_DISK}: with when_full: refuse, nobody begins, everybody is told when to come back, and no record is lost`,
  ),
  'contract.usage.retention': shown(
    USAGE,
    'Records, contents and sums go after their days, in small steps; what they came to stays.',
    `${RETENTION}: old records go with their contents, a bounded number at a time, and their sums stay`,
    `${RETENTION}: contents alone may go sooner, as few at a time as their size allows`,
    `${RETENTION}: a deletion takes less at a time where committing it takes long, and more again when it does not`,
    `${RETENTION}: records go with their contents, as far as their day is over where days are dropped, and their sums stay`,
    `${RETENTION}: old sums go by the day, and what they came to stays in the sums of all time`,
  ),
  'contract.usage.command': shown(
    USAGE,
    'A command prints what a running gateway has just written.',
    `${USAGE_COMMAND}: prints what the gateway has just written, by model and end user, and for a filter`,
    `${USAGE_COMMAND}: shows names of keys, takes them as filters, and knows days by name`,
  ),
};
