// What outlives the connection of a client: the queue of jobs, answers in the background, streams that can be resumed.
import { shown, type Requirements } from './requirement.ts';

const DURABLE = 'answers that outlive a connection';
const JOBS = 'test/contract/storage/jobs.test.ts';
const BACKGROUND = 'test/socket/state/background.test.ts';
const REMOTE = 'test/socket/cluster/streams.test.ts';
const WEBHOOKS = 'test/socket/operations/webhooks.test.ts';
const STREAMS = 'test/socket/state/streams-kept.test.ts';
const ASYNC = 'test/socket/state/respond-async.test.ts';
const BATCHES_ADMIN = 'test/socket/operations/management/batches.test.ts';
const ADMIN = 'test/socket/operations/management/jobs.test.ts';
const GEMINI_BATCHES = 'test/socket/state/gemini-batches.test.ts';
const MESSAGE_BATCHES = 'test/socket/state/message-batches.test.ts';
const BATCHES_ROOM = 'test/socket/state/batches-room.test.ts';
const BATCHES = 'test/socket/state/batches.test.ts';
const TROUBLES = 'test/socket/state/durable-troubles.test.ts';
const KILL = 'test/crash/background-kill.test.ts';

export const durableRequirements: Requirements = {
  'contract.durable.jobs.lease': shown(
    DURABLE,
    'A job is held by one process at a time, and what an older holder writes changes nothing.',
    `${JOBS}: two processes that take at once never hold the same job`,
    `${JOBS}: a lease that ran out lets another take over, and an old fence changes nothing`,
    `${JOBS}: steps stay, each as it was last said`,
    `${JOBS}: a job is added, taken once, and ends once`,
    'test/socket/state/job-notices.test.ts: a job begins at another replica that does not look, because it is told',
    `${JOBS}: what a process lets go of, another takes at once`,
    `${JOBS}: a job with a home is left to it`,
  ),
  'contract.durable.jobs.order': shown(
    DURABLE,
    'Projects take turns, priorities begin first, and jobs of one lane run in their order.',
    `${JOBS}: projects take turns, by their weight, and a lower priority begins first`,
    `${JOBS}: a project runs so many at once`,
    `${JOBS}: jobs of one lane run in their order`,
    `${JOBS}: a project has so many open jobs`,
  ),
  'contract.durable.jobs.wait': shown(
    DURABLE,
    'A job that has no room waits, and says why and since when.',
    `${JOBS}: a job without room waits, says why and since when, and counts no attempt`,
    `${BACKGROUND}: an answer without room waits for it, and says so`,
  ),
  'contract.durable.jobs.ends': shown(
    DURABLE,
    'A job can be cancelled, tried again, listed and counted, and is kept as long as its result.',
    `${JOBS}: a job is cancelled at once, or by its runner, and can be tried again`,
    `${JOBS}: are listed, counted and kept with their streams until they expire`,
    `${BACKGROUND}: an answer and its job are forgotten together`,
  ),
  'contract.durable.background.life': shown(
    DURABLE,
    'An answer in the background is queued, made whatever becomes of its client, and read at any time.',
    `${BACKGROUND}: is queued, and is there a moment later`,
    `${BACKGROUND}: is made although its client left at the first event`,
    `${BACKGROUND}: that fails says why, and can be read, streamed and deleted`,
    `${BACKGROUND}: fails in its stream after it had begun`,
    `${BACKGROUND}: an answer goes on from one that was made in the background, and has one record`,
    `${BACKGROUND}: the same idempotency key makes one answer`,
    `${BACKGROUND}: is nobody else's`,
  ),
  'contract.durable.background.stream': shown(
    DURABLE,
    'Its stream goes on behind any event, while the answer is made and after its end.',
    `${BACKGROUND}: is streamed at once, and again from any event, during and after`,
    `${BACKGROUND}: is streamed to whoever asks later, and goes on live`,
  ),
  'contract.durable.background.cancel': shown(
    DURABLE,
    'To cancel is idempotent, and a complete answer stays complete.',
    `${BACKGROUND}: is cancelled while it runs, as often as is asked`,
    `${BACKGROUND}: is as cancelled as it can be once it is complete`,
  ),
  'contract.durable.background.refused': shown(
    DURABLE,
    'What cannot be answered is refused at once, and `store: false` unless the configuration keeps it for a while.',
    `${BACKGROUND}: %s`,
    `${BACKGROUND}: to go on from an answer that is being made`,
    `${BACKGROUND}: with \`background.temporary\`, an answer that is not stored is kept for ten minutes`,
  ),
  'contract.durable.background.conversation': shown(
    DURABLE,
    'Turns of one conversation are made in the order in which they were asked for.',
    `${BACKGROUND}: turns of one conversation are made in the order in which they were asked for`,
  ),
  'contract.durable.background.kill': shown(
    DURABLE,
    'A process that is killed loses no answer, and none is there twice.',
    `${KILL}: SIGKILL in the middle: every answer is made, and none is there twice`,
    'test/crash/background-kills.test.ts: every answer is made, and the ledger has each request once',
    'test/scenarios/responses/background-replicas.test.ts: a replica that is killed leaves its answers to the other, and the ledger has every request once',
  ),
  'contract.durable.background.tries': shown(
    DURABLE,
    'The record of an answer is that of the try that answered; earlier tries are beside it, and what never went out is charged to nobody.',
    'test/socket/state/background-tries.test.ts: the record of an answer is that of the try that answered, and the others are beside it',
    'test/socket/state/background-tries.test.ts: an upstream that has no room is waited for, more often than processes may die',
    'test/unit/storage/sent-marks.test.ts: a request that went out is told from one that was about to',
    'test/unit/storage/sent-marks.test.ts: a mark whose place another one has, or whose file is gone, is unknown',
    'test/unit/storage/sent-marks.test.ts: nothing is left behind by a process whose requests have all ended',
  ),
  'contract.durable.troubles': shown(
    DURABLE,
    'A revoked key, a spent budget, a full quota and a full disk in the middle have each one outcome, and nothing that was answered is lost or asked twice.',
    `${TROUBLES}: that runs goes on when its key is revoked, and one that has not begun fails`,
    `${TROUBLES}: waits where the budget is spent before it begins, and fails where that happens in its middle`,
    `${TROUBLES}: that finds no room in the storage of its project waits for it, and is not made again`,
    `${TROUBLES}: whose key is revoked ends: lines that run are answered, and the others say why not`,
    `${TROUBLES}: that finds no room for its results says so, and ends when there is some`,
    'test/crash/full-disk-jobs.test.ts: has an answer in the background wait, which is not made again',
    'test/crash/full-disk-jobs.test.ts: has a batch wait, whose lines are not asked again',
    'test/crash/full-disk-jobs.test.ts: refuses new work with a reason, and takes it when there is room',
  ),
  'contract.durable.streams.resume': shown(
    DURABLE,
    'A kept stream goes on behind any event, in every protocol, and the parts together are the whole.',
    `${STREAMS}: of %s goes on behind any event`,
    `${STREAMS}: of Gemini goes on behind any event`,
    `${STREAMS}: give every recorded stream again from any event`,
    `${STREAMS}: has \`id\` lines only where it was asked for`,
    `${STREAMS}: refuses headers that say something else`,
  ),
  'contract.durable.streams.elsewhere': shown(
    DURABLE,
    'A kept stream goes on at any worker, and at any replica that shares Valkey, byte for byte; with PostgreSQL alone another replica says why not.',
    `${REMOTE}: in %s goes on behind any event, byte for byte`,
    `${REMOTE}: goes on live after its client was cut off, and is whole although Valkey was flushed meanwhile`,
    `${REMOTE}: ends where its last reader at another replica has left`,
    `${REMOTE}: of an answer in the background is live at the replica that does not make it`,
    `${REMOTE}: of several workers each resumes the streams of all`,
    `${REMOTE}: with PostgreSQL alone, another replica says which one has the stream`,
  ),
  'contract.durable.streams.gone': shown(
    DURABLE,
    'A stream that is kept no more is refused with a reason, and memory for streams is bounded.',
    `${STREAMS}: is gone with a reason, or was never there`,
    `${STREAMS}: are forgotten a while after their end, and the oldest first where memory is short`,
  ),
  'contract.durable.streams.leave': shown(
    DURABLE,
    'An answer whose client leaves ends at once, or goes on for whoever resumes it.',
    `${STREAMS}: a stream that can be resumed goes on, and its rest is live`,
    `${STREAMS}: a request %s ends at once`,
  ),
  'contract.durable.async': shown(
    DURABLE,
    'With `Prefer: respond-async` an answer of any protocol is made without a connection, and read later.',
    `${ASYNC}: is the same as one that somebody waits for, in %s`,
    `${ASYNC}: that fails is told as the client would have been`,
    `${ASYNC}: can be cancelled, and is nobody else's`,
    `${ASYNC}: is refused at once where it could not be given`,
  ),
  'contract.durable.jobs.admin': shown(
    DURABLE,
    'Admins see, cancel and try jobs again, by the management API and by a command, and metrics count them.',
    `${ADMIN}: jobs are listed, shown, counted, cancelled and tried again, and the audit log says who did`,
    `${ADMIN}: an answer in the background is one request of lists and sums, however long it waited`,
    `${ADMIN}: the command lists them, and ends one`,
    `${ADMIN}: metrics say how many there are`,
  ),
  'contract.durable.batches.admin': shown(
    DURABLE,
    'Admins see batches of all projects with lines, cost and failures, and cancel them; other keys find none.',
    `${BATCHES_ADMIN}: batches are listed and shown with lines, cost and failures, each with its request`,
    `${BATCHES_ADMIN}: a batch that runs is cancelled, and the audit log says who did`,
    `${BATCHES_ADMIN}: what there is not, and what is not asked rightly, is refused`,
    `${BATCHES_ADMIN}: a key of another project finds no batch, and cancels none`,
    'test/contract/storage/batches.test.ts: operators find batches of all projects by status, and lines that failed as long as the batch',
  ),
  'contract.durable.webhooks.events': shown(
    DURABLE,
    'Receivers are told once how an answer in the background ended, as OpenAI words it, when it can be read; of other projects they hear nothing.',
    `${WEBHOOKS}: is what the SDK of OpenAI unwraps, and says how the answer ended`,
    `${WEBHOOKS}: comes when the answer can be read as ended, also where it was cancelled before it began`,
    `${WEBHOOKS}: goes to receivers of its project and of the operator alone, and to those that want its type`,
    `${JOBS}: jobs that follow another are added with its end, once`,
  ),
  'contract.durable.webhooks.delivery': shown(
    DURABLE,
    'Messages survive the death of the process, are tried for 72 hours, and a receiver that takes none is disabled with an alert.',
    `${WEBHOOKS}: is delivered after the process was killed while the receiver had it, under the same id`,
    'test/crash/background-kills.test.ts: every answer is made, and the ledger has each request once',
    `${WEBHOOKS}: for 72 hours is disabled, which operators are told, and is sent to again once it is enabled`,
    `${WEBHOOKS}: gets a message after growing pauses that together come to 72 hours`,
  ),
  'contract.durable.webhooks.hostile': shown(
    DURABLE,
    'Receivers that redirect, never end, never answer or are at a private address get nothing more than a signed message, and delay no others.',
    `${WEBHOOKS}: is not followed where it redirects`,
    `${WEBHOOKS}: is left after 64 kB of an answer without an end`,
    `${WEBHOOKS}: and does not answer is left after 15 seconds, and is in no other one’s way`,
    `${WEBHOOKS}: is at no private address, neither when it is made nor later`,
  ),
  'contract.durable.webhooks.admin': shown(
    DURABLE,
    'Admins make, change, test and delete receivers, replace their secrets, read what was sent and send it once more.',
    `${WEBHOOKS}: has a secret that is shown once, and another one from time to time`,
    `${WEBHOOKS}: is listed, changed, tested and deleted; what it was sent is in its log, and is sent once more`,
    `${WEBHOOKS}: of a configuration file is read, tested and enabled, and not changed`,
  ),
  'contract.durable.batches.lines': shown(
    DURABLE,
    "OpenAI's batches answer every line of a file by any model, each line recorded and charged as any other request.",
    `${BATCHES}: answers every line, by any model`,
    `${BATCHES}: may ask for responses and for vectors`,
    `${BATCHES}: have records and costs as other requests`,
  ),
  'contract.durable.batches.messages': shown(
    DURABLE,
    "Anthropic's batches answer every request by any model, and are listed, cancelled, deleted and read as its SDK does.",
    `${MESSAGE_BATCHES}: answers every request by any model, and names what is wrong with others`,
    `${MESSAGE_BATCHES}: is listed in pages, deleted, and nobody else’s`,
    `${MESSAGE_BATCHES}: is refused for a body that is none, and for too many requests`,
  ),
  'contract.durable.batches.gemini': shown(
    DURABLE,
    "Gemini's batches answer every request by any model, from a body or a file, as Google's own libraries make and read them.",
    `${GEMINI_BATCHES}: answers every request by any model, and names what is wrong with others`,
    `${GEMINI_BATCHES}: takes a file, in either spelling, and gives a file that the SDK downloads`,
    `${GEMINI_BATCHES}: is listed in pages, cancelled, deleted, and nobody else’s`,
    `${GEMINI_BATCHES}: of which no request can be run fails, and says why of each`,
    `${GEMINI_BATCHES}: is refused with the name of the member`,
    'test/unit/base/json/array-elements.test.ts: finds the same elements and the same rest, however the bytes are cut',
  ),
  'contract.durable.batches.checked': shown(
    DURABLE,
    'A line that cannot be run is named with its number, and the others run.',
    `${BATCHES}: that cannot be run are named with their numbers, and the others run`,
    `${BATCHES}: of which none can be run fail their batch`,
    `${BATCHES}: is refused with the name of the member`,
    `${BATCHES}: gives a batch that is nobody else’s, and is listed`,
  ),
  'contract.durable.batches.ends': shown(
    DURABLE,
    'A batch that is cancelled, or whose budget is spent, delivers what is finished.',
    `${BATCHES}: is cancelled, and what is finished is delivered`,
    `${BATCHES}: waits for a budget, says why and since when, and goes on`,
    `${BATCHES}: ends with its budget where that is wanted`,
  ),
  'contract.durable.batches.room': shown(
    DURABLE,
    'Lines of batches leave room to interactive requests, projects take turns, and a batch whose time is over delivers what is finished.',
    `${BATCHES_ROOM}: lines leave a fifth of the limit of their provider to others`,
    `${BATCHES_ROOM}: lines wait while the event loop is late, and projects take turns`,
    `${BATCHES_ROOM}: a batch whose time is over delivers what is finished`,
  ),
  'contract.durable.batches.killed': shown(
    DURABLE,
    'A process that is killed leaves its batch to the next: each line has one answer, and the ledger has what upstreams got.',
    'test/crash/batch-kills.test.ts: every line has one answer, and the ledger has each request once',
    'test/contract/storage/batches.test.ts: a line ends once, counts once, and an older fence changes nothing',
    'test/contract/storage/batches.test.ts: a batch ends once, and its lines are forgotten later',
  ),
};
