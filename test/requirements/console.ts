// The console: who gets in, what keeps others out, and what its pages show.
import { shown, type Requirements } from './requirement.ts';

const CONSOLE = 'the console';
const SESSION = 'test/console/session.test.ts';
const PAGES = 'test/console/pages.test.ts:';
const REACH = 'test/console/reach.test.ts:';
const KEYS = 'test/console/keys.test.ts:';
const PLAYGROUND = 'test/console/playground.test.ts:';
const WIRE_DIFF = 'test/console/wire-diff.test.ts:';
const SIGN_IN = 'test/console/sign-in.test.ts';
const BATCHES = 'test/console/batches.test.ts:';
const JOBS = 'test/console/jobs.test.ts:';
const QUESTIONS = 'test/console/questions.test.ts:';
const OPERATORS = 'test/console/operator-questions.ts:';
const OUTAGE = 'test/console/outage.test.ts:';
const DAYS = 'test/console/days.test.ts:';

export const consoleRequirements: Requirements = {
  'contract.console.sign-in': shown(
    CONSOLE,
    'An admin signs in with a key, or with a link that is good once; the browser never holds the key.',
    `${SIGN_IN}: a key signs in, the list of requests is there, and signing out ends it`,
    `${SIGN_IN}: a link signs in once`,
    `${SIGN_IN}: a new gateway says what to do first`,
    `${PAGES} the address of the gateway alone leads a browser to the console`,
    `${SESSION}: a key that may not manage signs nobody in, and each refusal is in the log`,
    `${SESSION}: a link is good once, and for a quarter of an hour`,
    `${SESSION}: so is the code of a command of this machine`,
  ),
  'contract.console.session': shown(
    CONSOLE,
    'A session can do what its key can, ends with it, with time and at sign-out, and is of no use to other sites.',
    `${SESSION}: a session asks as its key does, and its answers hold no secret`,
    `${SESSION}: other sites can do nothing with it`,
    `${SESSION}: sessions end: at sign-out, after hours alone, after a day, and with their key`,
    `${SIGN_IN}: a session that has ended asks for a key again, and stays where one was`,
    `${SIGN_IN}: a link that is pasted into an open page signs in there`,
    `${SIGN_IN}: no page of others can show it in a frame`,
    `${SESSION}: over TLS the cookie is for TLS alone`,
  ),
  'contract.console.webhooks': shown(
    CONSOLE,
    'Receivers of webhooks are made, tested and deleted, and what each was sent is seen.',
    'test/console/webhooks.test.ts: a receiver is made, tested and deleted, and its secret is shown once',
  ),
  'contract.console.jobs': shown(
    CONSOLE,
    'The queue is seen with its length, age and failures; a background answer is listed and cancelled from its first moment.',
    `${JOBS} an answer in the background is in the list of requests from its first moment, and can be cancelled there`,
    `${JOBS} the queue says how many run and why one failed; a job is cancelled, and tried again`,
  ),
  'contract.console.batches': shown(
    CONSOLE,
    'Batches are seen with their lines, cost and failures; each failed line leads to its request; one is cancelled after a question.',
    `${BATCHES} a batch says how far it is and what failed, and each failed line leads to its request`,
    `${BATCHES} a batch that runs is cancelled after a question, and its job leads to it`,
  ),
  'contract.console.probe': shown(
    CONSOLE,
    'A model is probed at a provider from its page, after its cost was said.',
    `${PAGES} a model is probed after its cost was said, and the results are counted`,
  ),
  'contract.console.pages': shown(
    CONSOLE,
    'Every page can be used by everybody, light and dark, on a phone and with the keyboard, and shows texts of others as texts.',
    `${PAGES} the page %s is there, keeps nobody out, and has room on a phone, light and dark`,
    `${REACH} every dialog keeps nobody out in both themes, has room on a phone, and gives the focus back`,
    `${REACH} so do the search of everything, the range of time with its calendar, and the list of keys`,
    `${REACH} a request is found, opened beside the list, and seen from all sides with the keyboard alone`,
    `${REACH} limits are changed, a question is sent and the past computed with the keyboard alone`,
    `${KEYS} a key is made and rotated with the keyboard alone, is shown once, and is not lost by Escape`,
    `${PAGES} light and dark are chosen, and kept`,
    `${PLAYGROUND} what %s refused is shown in its own words, and as text`,
    `${PAGES} nothing of all this made the browser complain, or can be done by the console alone`,
    `${KEYS} nothing of all this made the browser complain, or can be done by the console alone`,
    `${PLAYGROUND} nothing of all this made the browser complain, or can be done by the console alone`,
  ),
  'contract.console.live': shown(
    CONSOLE,
    'Pages are read again when the gateway says that something has changed, and every so often only while it cannot.',
    `${PAGES} pages are read again when something has happened, and every so often only while nobody can tell`,
  ),
  'contract.console.requests': shown(
    CONSOLE,
    'Requests come by themselves, are narrowed by what the address says, and show what was said, the route, cost, and what was changed.',
    `${PAGES} a request shows what was said, why it went where it went, what it cost, and what was changed`,
    `${PAGES} filters stand in the address, and new requests come by themselves where nobody looks at a row`,
    `${PAGES} a request is asked again, and opened in the playground with what it said`,
    `${WIRE_DIFF} between $client and $upstream nothing is listed but what differs`,
  ),
  'contract.console.playground': shown(
    CONSOLE,
    'Any model is asked in any protocol, streamed, with reasoning and tools; two side by side, and the same as code.',
    `${PLAYGROUND} the playground streams over %s, with reasoning, and a tool is answered by hand`,
    `${PLAYGROUND} over %s reasoning is shown as it comes, before there is an answer`,
    `${PLAYGROUND} over %s the gateway runs tools of an MCP server`,
    `${PLAYGROUND} over %s pictures and files are dropped on it, and sent`,
    `${PLAYGROUND} two models answer side by side, with time and cost, in protocols of their own`,
    `${PLAYGROUND} the same can be copied as code that runs`,
  ),
  'contract.console.keys': shown(
    CONSOLE,
    'Keys and projects are made, changed, rotated, revoked and archived, and requests feel it at once.',
    `${KEYS} a key with a budget is refused when nothing is left, and when it is revoked`,
    `${KEYS} a project gets a budget, is changed, archived and taken into use again`,
    `${KEYS} however many keys there are, all can be seen and found, and requests name theirs`,
    `${KEYS} a key is copied at a plain address of a network, too, where browsers keep their clipboard from pages`,
  ),
  'contract.console.doctor': shown(
    CONSOLE,
    'Probe results of an endpoint are shown with its provider.',
    `${PAGES} probe results are shown with the provider, and what was never probed says how to`,
  ),
  'contract.console.routing': shown(
    CONSOLE,
    'A decision is explained before anything is sent, and the past is computed under other rules.',
    `${PAGES} a route is explained, and last week is computed under other rules`,
  ),
  'contract.console.page': shown(
    CONSOLE,
    'The page loads nothing from elsewhere, holds no script or style in itself, and is small.',
    `${SESSION}: the page and all that it loads come from here, and its policy allows nothing else`,
    `${SESSION}: all files together are small, and made for production`,
    `${QUESTIONS} the first page loads little, and the playground and the calendar are fetched when they are wanted`,
  ),
  'contract.console.questions': shown(
    CONSOLE,
    'What fails, why it is slow, who spent most and how somebody gets a key are a few clicks away.',
    `${OPERATORS} a provider is down: it is seen without a click, its words are one click away, and its requests two`,
    `${OPERATORS} why a request was slow: three clicks from the overview lead to the sentence that says it`,
    `${OPERATORS} who spent most yesterday: two clicks, and the sums are those of the management API`,
    `${DAYS} yesterday is the same day on the page, in its CSV and for \`dragoman usage\`, and each says whose it is`,
    `${DAYS} days of one's own are chosen in the calendar, and everything else follows them`,
    `${OPERATORS} a key with $20: four clicks and two fields, the row shows it, and the message is ready`,
    `${QUESTIONS} the keyboard reaches the first row in six stops, and knows the way`,
  ),
  'contract.console.truth': shown(
    CONSOLE,
    'States, sums and times are true: what failed is no success, what has no price is no $0, and no end lies in the past.',
    `${OPERATORS} what is shown is true: no success that was none, no $0 for what has no price, nobody nameless, no end in the past`,
    `${OUTAGE} a provider that rejects its key to all is failing within ten seconds, and is healthy at no time`,
    `${OUTAGE} what failed has no colour of success, anywhere`,
    `${OUTAGE} an alert is still there after a reload, and says when it was raised`,
    `${OUTAGE} no column of %s is cut at 1440 pixels`,
    `${QUESTIONS} disabling a provider asks for how long and why, says what stands in, and is undone in place`,
    'test/console/contrast.test.ts: text',
    'test/console/contrast.test.ts: edges of fields, dots, bars and series',
    'test/console/presets.test.ts: presets of the dialog agree with the catalog',
  ),
};
