// The management API: who may ask, what is shown, what is changed and how it is told.
import { shown, type Requirements } from './requirement.ts';

const MANAGEMENT = 'the management API';
const TENANTS = 'test/socket/operations/management/tenants.test.ts';
const DOCUMENT = 'test/socket/operations/openapi/document.test.ts';
const PAGE = 'test/socket/operations/openapi/reference-page.test.ts';
const LISTED = 'test/socket/operations/management/generations.test.ts';
const TRUTH = 'test/socket/operations/management/usage.test.ts';
const PROBES = 'test/socket/operations/management/probes.test.ts';
const STATES = 'test/socket/operations/management/provider-states.test.ts';
const KEYS = 'test/socket/operations/management/key-rows.test.ts';
const REPORTS = 'test/socket/operations/management/reports.test.ts';
const SIGN_IN = 'test/socket/operations/management/sign-in.test.ts';
const AUDIT = 'test/socket/operations/management/audit.test.ts';
const STORES = 'test/contract/storage/audit.test.ts';
const ROUTES = 'test/socket/operations/management/routes.test.ts';

export const managementRequirements: Requirements = {
  'contract.management.explain': shown(
    MANAGEMENT,
    'An admin is told how a request of any key would be routed, as that key would be.',
    'test/socket/operations/management/explain.test.ts: a request is explained as to the key that would send it',
  ),
  'contract.management.sign-in': shown(
    MANAGEMENT,
    'Only admins manage: a key of a model gets a 403 there, and an admin key on model calls; nobody else gets in at all.',
    `${SIGN_IN}: an admin gets in under both bases, with any of the three headers`,
    `${SIGN_IN}: nobody gets in without a key or with a wrong one, also where there is nothing`,
    `${SIGN_IN}: a key that is no admin gets a 403, and an admin key cannot call models`,
    `${SIGN_IN}: who is refused is told to the log, without the key, and not more often than is bearable`,
    `${SIGN_IN}: made from the data directory opens the running gateway`,
    'test/hostile/clients.test.ts: a hostile client',
  ),
  'contract.management.configuration': shown(
    MANAGEMENT,
    'The configuration in force is shown with its defaults and without its secrets; a draft is checked and not used.',
    `${ROUTES}: is shown in the words of the file, with its defaults and without its secrets`,
    `${ROUTES}: a draft is checked and not used`,
  ),
  'contract.management.providers': shown(
    MANAGEMENT,
    'Models and providers are shown with health, speed, price and facts; endpoints are disabled and enabled by hand.',
    `${ROUTES}: tell of each endpoint what it charges and what is known of it`,
    `${ROUTES}: show how their endpoints did`,
    `${ROUTES}: are disabled and enabled by hand`,
  ),
  'contract.management.findings': shown(
    MANAGEMENT,
    'What `doctor` found is shown with the endpoint it is used for, and is the same for all gateways on one database.',
    'test/socket/operations/doctor-shared.test.ts: are used and shown by every gateway, also by one that starts later, until they are forgotten',
  ),
  'contract.management.conventions': shown(
    MANAGEMENT,
    'Lists have pages in both directions; a member that is not known is a 400 that names it.',
    `${ROUTES}: are listed in pages, in both directions`,
    `${ROUTES}: a wrong member of a request is named, with the one that was meant`,
  ),
  'contract.management.audit': shown(
    MANAGEMENT,
    'Every change is in the audit log: who, what, before and after, when, from where; entries are purged after their time.',
    `${AUDIT}: a change is told with who made it, from where, when, and what was before and after`,
    `${AUDIT}: what a command changes is in it, too`,
    `${STORES}: a change and its entry are there together, or neither`,
    `${STORES}: an entry has the thing as it was right before, whoever else changes it`,
    `${AUDIT}: what changes nothing is not in it`,
    `${STORES}: the audit log is read newest first, in pages in both directions, and purged from its oldest end`,
  ),
  'contract.management.tenants': shown(
    MANAGEMENT,
    'Keys and projects are made, changed, rotated, revoked and archived, in force at once; the file alone changes its own.',
    `${TENANTS}: is made, shown once, and good at once`,
    `${TENANTS}: is not made of what no key may have`,
    `${TENANTS}: gets another secret, with or without a grace, and keeps its id`,
    `${TENANTS}: is revoked at once, and once`,
    `${TENANTS}: is made, has keys, and is changed under versions`,
    `${TENANTS}: are told by the ids that records name, of the file and stored, and those alone`,
    `${TENANTS}: is listed first, and changed there alone`,
  ),
  'contract.management.safe-changes': shown(
    MANAGEMENT,
    'A change is made to the version that `If-Match` names, or is a 412; a create with an `Idempotency-Key` is made once.',
    `${TENANTS}: is changed in the version that was read, and in no other`,
    `${TENANTS}: with an idempotency key is made once`,
  ),
  'contract.openapi': shown(
    'the description of the API',
    '`/openapi.json` is valid, describes every route that answers and no other, and its examples run as described.',
    `${DOCUMENT}: it is valid OpenAPI 3.1`,
    `${DOCUMENT}: every operation has a name of its own, its audience, and every refusal in the shape of its protocol`,
    `test/socket/operations/openapi/strictness.test.ts: limits %j`,
    `test/socket/operations/openapi/strictness.test.ts: the query of %s: %s=%s`,
    `${DOCUMENT}: another method of a path that is described is a 405, and says which it takes`,
    `${DOCUMENT}: runs against the simulated models and is answered as described`,
    `${DOCUMENT}: of a refusal, too, is as described`,
  ),
  'contract.docs': shown(
    'the description of the API',
    '`/docs` shows the description and loads nothing from anywhere else.',
    `${PAGE}: everything that the page loads comes from the gateway, and its policy allows nothing else`,
    `${PAGE}: there is nothing else below it`,
    'test/socket/operations/openapi/reference-browser.test.ts: the page draws every operation, shows one in full, asks nobody else, and nothing is complained of',
    `${PAGE}: its package tells nobody that it was installed`,
  ),
  'contract.management.reports': shown(
    MANAGEMENT,
    'Limits are told as they stand; usage is summed up as JSON or CSV; requests are listed by filters, and shown whole.',
    `${REPORTS}: are told for each owner: used, reserved, remaining, and when they clear`,
    `${REPORTS}: is summed up by what requests have, and over time`,
    `${REPORTS}: is a table for spreadsheets, also where a name would be a formula`,
    `${REPORTS}: is told by the hash that records have, narrowed by filters, as JSON or CSV`,
    `${REPORTS}: are listed newest first, narrowed by filters, in pages`,
    `${REPORTS}: one is shown with attempts, route and report, whoever made it`,
  ),
  'contract.management.requests': shown(
    MANAGEMENT,
    'Requests have one state each; they are found by it, by who was tried, by text and measures, counted, ordered and explained.',
    `${LISTED}: says the state of each request, whatever its HTTP status was`,
    `${LISTED}: is narrowed by state, outcome, provider tried, kind, attempts and text`,
    `${LISTED}: is ordered by a measure, page by page`,
    `${LISTED}: say how many there are by state and time, and what else could be chosen`,
    `${LISTED}: that recovered says who failed before, and where the time went`,
    `${LISTED}: that failed says who said what`,
    `${LISTED}: that was refused says which limit, whose, and when it is free`,
  ),
  'contract.management.usage': shown(
    MANAGEMENT,
    'Failures belong to the model asked for and the provider tried last, attempts to where they were made; unknown prices are said.',
    `${TRUTH}: a request that failed counts under the model that was asked for and the provider that was tried last`,
    `${TRUTH}: attempts count where they were made, also at a provider that never answers`,
    `${TRUTH}: unknown prices are said, and are no zero`,
    `${TRUTH}: minutes, half hours, six hours and days of the zone add up to the same`,
    `${TRUTH}: the time before is there to be compared, and a table has the same columns`,
  ),
  'contract.management.provider-states': shown(
    MANAGEMENT,
    'Providers and endpoints have one state each, by their latest attempts, in their own words, also after a restart.',
    `${STATES}: a provider that rejects its key is failing at once, in its own words`,
    `${STATES}: others are degraded, healthy or without traffic`,
    `${STATES}: one provider says what it said last, how often, and where to look`,
    `${STATES}: states and alerts outlive a restart`,
    `${STATES}: three good attempts in a row end it, and no fewer`,
    `${STATES}: a provider that is disabled says by whom, why and until when`,
    ...[
      'without an attempt has no traffic, and a day after its last one, too',
      'is failing when its key is refused once, until three good attempts in a row',
      'is failing when fewer than half of five are good, where rate limits count for neither',
      'is failing while its breaker is open, recovering when it is half-open, and does not blink',
      'is degraded below 95 % of 20, when the last of few was bad, and when it is three times as slow',
      'is judged by its last 20 attempts where 15 minutes had none',
      'that an operator disabled is disabled, whatever it shows',
      'that was asked before a start is judged by what records say',
      'of several, the worst is told',
    ].map((title) => `test/unit/engine/endpoint-states.test.ts: ${title}` as const),
  ),
  'contract.management.probes': shown(
    MANAGEMENT,
    'Endpoints are probed by the management API: the cost is said before, results are kept and in force.',
    `${PROBES}: the cost of probes is said before any is sent`,
    `${PROBES}: an endpoint is probed, its results are kept and in force, and the audit log says who asked`,
    `${PROBES}: results of an endpoint that refuses, and of the built-in provider, are answered and not kept`,
    `${PROBES}: a model or provider that is not there is refused, with the field that names it`,
  ),
  'contract.management.problems': shown(
    MANAGEMENT,
    'What is wrong now is one list with one sentence; alerts are kept; a browser finds the console at the first page.',
    `${STATES}: problems are listed with a sentence`,
    `${STATES}: alerts are kept`,
    `${STATES}: the first page leads a browser to the console, and a program to the name`,
  ),
  'contract.management.key-rows': shown(
    MANAGEMENT,
    'A list of keys says what each spent this month, when it was used last, how its tightest budget stands, and its state.',
    `${KEYS}: each row says what the key spent this month, and when it was used last`,
    `${KEYS}: each row has its tightest budget, of the key or its project`,
    `${KEYS}: a key is active, expires soon, has used up its budget, is archived with its project, or is revoked`,
    `${KEYS}: rows are ordered by what the keys were used for, page by page`,
    `${KEYS}: one key says how long its budget lasts at this pace`,
    `${KEYS}: the gateway says its version, its time and its zone`,
  ),
};
