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

const LIST = 'separated by commas';
const url = { value: 'URL', text: 'address of the gateway (default: from the configuration)' };
const adminKey = { value: 'KEY', text: 'an admin key (default: access through the local data directory)' };
const limit = { value: 'RULE', multiple: true, text: 'a limit, such as "60 requests per minute"' } as const;
const budget = { value: 'RULE', multiple: true, text: 'a budget, such as "5 usd per day"' } as const;
const unpriced = { value: 'CHOICE', text: '`refuse` (default) or `allow` requests without a known price' };

/** Options of all commands. */
export const COMMON_OPTIONS: Options = {
  config: { value: 'FILE', text: 'configuration file (default: dragoman.yaml, if it exists)' },
  'data-dir': { value: 'DIR', text: 'data directory (default: ./data)' },
  json: { text: 'print JSON' },
  host: { value: 'ADDRESS', text: 'address to listen on (default: 127.0.0.1)' },
  port: { value: 'PORT', text: 'port to listen on (default: 4000)' },
};

export const SERVE_OPTIONS: Options = {
  workers: { value: 'N', text: 'number of processes that share the port, or `auto`' },
};

export const DOCTOR_OPTIONS: Options = {
  provider: { value: 'NAME', text: 'probe only this provider' },
  model: { value: 'ID', text: 'probe only this model' },
  deep: { text: 'run more probes, which use more tokens' },
  timeout: { value: 'SECONDS', text: 'timeout of one request (default: 60)' },
  'dry-run': { text: 'print the planned probes and their cost, and send nothing' },
  yes: { text: 'start without confirmation' },
  forget: { text: 'delete stored results of the named provider, or of all' },
};

export const KEYS_OPTIONS: Options = {
  name: { value: 'NAME', text: 'new name (set)' },
  project: { value: 'NAME', text: 'project of the new key (create), or of the listed keys (list)' },
  role: { value: 'ROLE', multiple: true, text: 'role of the key: models, admin' },
  models: { value: 'IDS', text: `allowed models, ${LIST}, with \`*\` as a wildcard at the end, or \`all\`` },
  limit,
  budget,
  unpriced,
  routing: {
    value: 'PREFERENCES',
    text: 'default routing of its requests, such as "only=openai", or `none`',
  },
  expires: { value: 'DATE', text: 'expiry date, or `never`' },
  strict: { opposite: true, text: 'refuse requests if any parameter would be dropped' },
  'log-content': { opposite: true, text: 'log prompts and responses of its requests' },
  'on-disconnect': {
    value: 'ACTION',
    text: 'action when a client disconnects: abort, continue, continue:30s, or `default`',
  },
  grace: { value: 'TIME', text: 'time for which the old secret stays valid, such as 24h (rotate)' },
};

export const PROJECTS_OPTIONS: Options = { limit, budget, unpriced };

export const LIMITS_OPTIONS: Options = {
  kind: { value: 'KIND', text: 'only limits of this kind: gateway, project, key or provider' },
  id: { value: 'ID', text: 'only limits of the project, key or provider with this id' },
  url,
  key: adminKey,
};

export const JOBS_OPTIONS: Options = {
  state: {
    value: 'STATE',
    text: 'only jobs in this state: queued, waiting, running, completed, failed, cancelled',
  },
  kind: { value: 'KIND', text: 'only jobs of this kind, such as response' },
  project: { value: 'NAME', text: 'only jobs of this project' },
  url,
  key: adminKey,
};

export const USAGE_OPTIONS: Options = {
  by: {
    value: 'NAMES',
    text: 'groups: project, key, model, provider, endpoint, protocol, requested_model, outcome; end_user',
  },
  since: { value: 'TIME', text: 'start: today, yesterday, 7d (default), 24h, 4w or a date' },
  until: { value: 'TIME', text: 'end (default: now)' },
  every: { value: 'INTERVAL', text: 'one row for each 5m, 30m (last two days only), hour, 6h, day or month' },
  project: { value: 'NAMES', text: `only these projects, ${LIST}` },
  key: { value: 'KEYS', text: `only these keys, by name or id, ${LIST}` },
  model: { value: 'IDS', text: `only these models, ${LIST}` },
  provider: { value: 'NAMES', text: `only these providers, ${LIST}` },
  endpoint: { value: 'NAMES', text: `only these endpoints, ${LIST}` },
  protocol: { value: 'NAMES', text: `only these protocols, ${LIST}` },
  requested_model: { value: 'IDS', text: `only requests for these models, ${LIST}` },
  outcome: {
    value: 'OUTCOMES',
    text: 'only these outcomes: ok, failed, refused, cancelled, separated by commas',
  },
  recount: { value: 'DATE', text: 'recompute the sums of this day from its records' },
  ids: { text: 'show ids of keys and projects instead of names' },
  csv: { text: 'print CSV' },
};

export const MODELS_OPTIONS: Options = {
  diff: { text: 'show what `catalog.refresh` would change' },
};

export const CONSOLE_OPTIONS: Options = { url };

export const HEALTH_OPTIONS: Options = { url };

export const EXPLAIN_OPTIONS: Options = {
  body: { value: 'FILE', text: 'file with a complete request; `-` reads standard input' },
  protocol: { value: 'NAME', text: 'protocol of that request (default: detected)' },
  url,
  key: { value: 'KEY', text: 'an API key (default: DRAGOMAN_KEY)' },
};

export const REPLAY_OPTIONS: Options = {
  model: { value: 'ID', text: 'send the request to another model' },
  provider: { value: 'NAME', text: 'use only this provider' },
  tools: { text: 'also run gateway tools again' },
  url,
  key: adminKey,
};

export const MIGRATE_OPTIONS: Options = {
  from: { value: 'DIR', text: 'data directory to move (default: from the configuration)' },
  to: { value: 'URL', text: 'target database (default: `database_url`)' },
  'dry-run': { text: 'count the rows to move, and move nothing' },
};
