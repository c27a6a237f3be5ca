// Options of all commands, used for parsing, help and shell completion.

export interface CommandOption {
  /** Name of its value in help. Absent: it is a flag. */
  readonly value?: string;
  /** True: it may be given several times. */
  readonly multiple?: true;
  /** True: `--no-NAME` negates it. */
  readonly opposite?: true;
  /** Short description. */
  readonly text: string;
}

export type Options = Readonly<Record<string, CommandOption>>;

const LIST = 'several behind commas';
const url = { value: 'URL', text: 'address of the gateway (default: the one of the configuration)' };
const adminKey = { value: 'KEY', text: "an admin's key (default: the data directory of this machine)" };
const limit = { value: 'RULE', multiple: true, text: 'a limit, such as "60 requests per minute"' } as const;
const budget = { value: 'RULE', multiple: true, text: 'a budget, such as "5 usd per day"' } as const;
const unpriced = { value: 'WORD', text: 'requests without a known price: `refuse` (default) or `allow`' };

/** Options of all commands. */
export const COMMON_OPTIONS: Options = {
  config: { value: 'FILE', text: 'the configuration (default: dragoman.yaml, where it exists)' },
  'data-dir': { value: 'DIR', text: 'the data directory (default: ./data)' },
  json: { text: 'print JSON, for programs' },
  host: { value: 'ADDRESS', text: 'where the gateway listens (default: 127.0.0.1)' },
  port: { value: 'PORT', text: 'the port on which it listens (default: 4000)' },
};

export const SERVE_OPTIONS: Options = {
  workers: { value: 'N', text: 'processes that share the port: a number, or `auto`' },
};

export const DOCTOR_OPTIONS: Options = {
  provider: { value: 'NAME', text: 'examine this provider alone' },
  model: { value: 'ID', text: 'examine this model alone' },
  deep: { text: 'ask more: it costs more tokens' },
  timeout: { value: 'SECONDS', text: 'how long one request may take (default: 60)' },
  'dry-run': { text: 'say what would be asked and what it costs, and ask nothing' },
  yes: { text: 'do not ask before it begins' },
  forget: { text: 'forget what was found, of the named provider or of all' },
};

export const KEYS_OPTIONS: Options = {
  name: { value: 'NAME', text: 'another name (set)' },
  project: { value: 'NAME', text: 'the project of the key (create), or whose keys are shown (list)' },
  role: { value: 'ROLE', multiple: true, text: 'what it may do: models, admin' },
  models: { value: 'IDS', text: `models that it may use, ${LIST}, \`*\` at an end; \`all\`: every one` },
  limit,
  budget,
  unpriced,
  routing: { value: 'WISHES', text: 'routing of its requests, such as "only=openai"; `none`: as for others' },
  expires: { value: 'DATE', text: 'the day on which it ends, or `never`' },
  strict: { opposite: true, text: 'refuse requests of which something would be dropped' },
  'log-content': { opposite: true, text: 'keep the prompts and answers of its requests' },
  'on-disconnect': {
    value: 'WORDS',
    text: 'when a client leaves its answer: abort, continue, continue:30s; `default`: as for others',
  },
  grace: { value: 'TIME', text: 'how long the old secret stays valid (rotate), such as 24h' },
};

export const PROJECTS_OPTIONS: Options = { limit, budget, unpriced };

export const LIMITS_OPTIONS: Options = {
  kind: { value: 'KIND', text: 'whose limits: gateway, project, key or provider' },
  id: { value: 'ID', text: 'of this one alone' },
  url,
  key: adminKey,
};

export const JOBS_OPTIONS: Options = {
  state: { value: 'STATE', text: 'only these: queued, waiting, running, completed, failed, cancelled' },
  kind: { value: 'KIND', text: 'only these, e.g. response' },
  project: { value: 'NAME', text: 'only those of this project' },
  url,
  key: adminKey,
};

export const USAGE_OPTIONS: Options = {
  by: {
    value: 'NAMES',
    text: 'groups: project, key, model, provider, endpoint, protocol, requested_model, outcome; end_user',
  },
  since: { value: 'TIME', text: 'from then on: today, yesterday, 7d (default), 24h, 4w or a date' },
  until: { value: 'TIME', text: 'up to then (default: now)' },
  every: { value: 'INTERVAL', text: 'one row for each 5m, 30m (both of two days), hour, 6h, day or month' },
  project: { value: 'NAMES', text: `of these projects alone, ${LIST}` },
  key: { value: 'KEYS', text: `of these keys alone, by name or id, ${LIST}` },
  model: { value: 'IDS', text: `of these models alone, ${LIST}` },
  provider: { value: 'NAMES', text: `of these providers alone, ${LIST}` },
  endpoint: { value: 'NAMES', text: `of these endpoints alone, ${LIST}` },
  protocol: { value: 'NAMES', text: `of these protocols alone, ${LIST}` },
  requested_model: { value: 'IDS', text: `of requests for these models, ${LIST}` },
  outcome: { value: 'WORDS', text: 'ok, failed, refused or cancelled, several behind commas' },
  recount: { value: 'DATE', text: 'add the sums of this day up again from its records' },
  ids: { text: 'show ids of keys and projects, not their names' },
  csv: { text: 'print CSV' },
};

export const MODELS_OPTIONS: Options = {
  diff: { text: 'show what `catalog.refresh` would change' },
};

export const CONSOLE_OPTIONS: Options = { url };

export const HEALTH_OPTIONS: Options = { url };

export const EXPLAIN_OPTIONS: Options = {
  body: { value: 'FILE', text: 'a whole request, instead of a prompt; `-`: from standard input' },
  protocol: { value: 'NAME', text: 'the protocol of that request (default: what it looks like)' },
  url,
  key: { value: 'KEY', text: 'an API key (default: DRAGOMAN_KEY)' },
};

export const REPLAY_OPTIONS: Options = {
  model: { value: 'ID', text: 'ask another model' },
  provider: { value: 'NAME', text: 'let this provider alone answer' },
  tools: { text: 'run tools of the gateway again, too' },
  url,
  key: adminKey,
};

export const MIGRATE_OPTIONS: Options = {
  from: { value: 'DIR', text: 'the data directory to move (default: that of the configuration)' },
  to: { value: 'URL', text: 'the database (default: `database_url`)' },
  'dry-run': { text: 'count what would be moved, and move nothing' },
};
