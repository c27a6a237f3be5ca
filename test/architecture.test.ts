// The import rules of the architecture, checked on the sources as they are: which folder may know which, what only one
// file may do, and how large a file may grow. A rule that has to give way is changed here, in the open.
import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { PROTOCOL_NAMES } from '../src/protocols/index.ts';
import { importStatements } from './import-statements.ts';

const ROOT = join(import.meta.dir, '..', 'src');
const MAX_LINES = 400;

/** Folders that each folder may import, besides itself and `lib`. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  canonical: [],
  runtime: [],
  workers: ['exchange', 'limits', 'metrics', 'runtime', 'telemetry'],
  exchange: ['canonical', 'engine', 'events', 'leases', 'routing', 'runtime', 'state', 'telemetry'],
  grammar: ['canonical'],
  limits: ['canonical'],
  leases: ['canonical', 'limits', 'runtime', 'telemetry'],
  valkey: ['canonical', 'exchange', 'limits', 'runtime'],
  protocols: ['canonical'],
  providers: ['canonical', 'protocols'],
  documents: ['canonical', 'runtime'],
  telemetry: ['canonical'],
  catalog: ['canonical', 'protocols', 'providers', 'telemetry', 'upstream'],
  routing: ['canonical', 'catalog'],
  metrics: ['canonical', 'engine', 'ledger', 'limits'],
  traces: ['canonical', 'engine', 'ledger', 'metrics', 'runtime', 'telemetry', 'upstream'],
  'what-if': ['canonical', 'catalog', 'ledger', 'routing', 'storage'],
  'wire-diff': ['canonical', 'engine', 'protocols'],
  events: ['alerts', 'canonical', 'engine', 'ledger', 'routing', 'runtime'],
  payloads: ['canonical', 'catalog', 'engine', 'protocols', 'runtime', 'storage', 'telemetry', 'upstream'],
  alerts: [
    'auth',
    'canonical',
    'engine',
    'ledger',
    'limits',
    'routing',
    'runtime',
    'storage',
    'telemetry',
    'upstream',
  ],
  ledger: ['canonical', 'catalog', 'storage'],
  state: ['canonical', 'storage'],
  tools: ['canonical', 'documents', 'runtime', 'upstream', 'telemetry'],
  upstream: ['canonical', 'runtime', 'telemetry'],
  usage: ['canonical', 'ledger', 'limits'],
  storage: ['canonical', 'ledger', 'limits', 'runtime', 'usage'],
  auth: ['canonical', 'limits', 'storage'],
  config: [
    'alerts',
    'canonical',
    'catalog',
    'limits',
    'protocols',
    'providers',
    'routing',
    'state',
    'telemetry',
    'upstream',
  ],
  engine: [
    'auth',
    'canonical',
    'catalog',
    'documents',
    'grammar',
    'ledger',
    'limits',
    'protocols',
    'providers',
    'routing',
    'runtime',
    'state',
    'storage',
    'telemetry',
    'tools',
    'upstream',
  ],
  server: [
    'auth',
    'canonical',
    'catalog',
    'engine',
    'ledger',
    'protocols',
    'runtime',
    'state',
    'storage',
    'telemetry',
  ],
  doctor: ['canonical', 'catalog', 'config', 'engine', 'protocols'],
  management: [
    'alerts',
    'auth',
    'canonical',
    'catalog',
    'config',
    'doctor',
    'engine',
    'events',
    'ledger',
    'limits',
    'payloads',
    'routing',
    'runtime',
    'server',
    'storage',
    'telemetry',
    'usage',
    'what-if',
    'wire-diff',
  ],
  openapi: ['canonical', 'management', 'protocols', 'server'],
  console: ['auth', 'canonical', 'management', 'runtime', 'server', 'telemetry'],
  cli: [
    'alerts',
    'auth',
    'routing',
    'canonical',
    'catalog',
    'config',
    'console',
    'doctor',
    'documents',
    'engine',
    'events',
    'exchange',
    'leases',
    'ledger',
    'limits',
    'management',
    'openapi',
    'metrics',
    'payloads',
    'providers',
    'runtime',
    'server',
    'state',
    'storage',
    'telemetry',
    'tools',
    'traces',
    'upstream',
    'usage',
    'valkey',
    'workers',
  ],
};

/** Rooms of the engine that each room may import, besides what stands beside the rooms: in the order of a request's life. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  adapt: [],
  media: [],
  admit: ['adapt', 'media'],
  attempt: ['adapt'],
  answer: ['adapt', 'admit', 'attempt'],
  failover: ['adapt', 'admit', 'answer', 'attempt', 'media'],
  settle: ['admit', 'answer', 'attempt'],
  tools: ['admit', 'answer', 'attempt', 'failover'],
  embeddings: ['admit', 'answer', 'attempt', 'failover', 'settle'],
};

/** Files that folders may import of another folder where not everything in it is meant for them. */
const ONLY_THESE: readonly {
  readonly from: readonly string[];
  readonly of: string;
  readonly files: readonly string[];
}[] = [
  {
    from: ['auth', 'ledger', 'state', 'engine', 'server', 'management', 'payloads', 'what-if'],
    of: 'storage',
    files: ['storage/ports.ts'],
  },
  {
    from: ['engine'],
    of: 'runtime',
    files: ['runtime/clock.ts', 'runtime/ids.ts', 'runtime/subprocess.ts'],
  },
  {
    from: ['server', 'management'],
    of: 'runtime',
    files: ['runtime/clock.ts', 'runtime/http-server.ts', 'runtime/ids.ts'],
  },
  { from: ['documents'], of: 'runtime', files: ['runtime/subprocess.ts'] },
  {
    from: ['console'],
    of: 'runtime',
    files: ['runtime/clock.ts', 'runtime/http-server.ts', 'runtime/ids.ts', 'runtime/subprocess.ts'],
  },
  { from: ['tools'], of: 'documents', files: ['documents/pdf-text.ts'] },
  { from: ['engine'], of: 'documents', files: ['documents/pdf-text.ts', 'documents/turns.ts'] },
  {
    from: ['storage'],
    of: 'runtime',
    files: ['runtime/machine.ts', 'runtime/mapped-file.ts', 'runtime/s3.ts', 'runtime/sqlite.ts'],
  },
  { from: ['config'], of: 'state', files: ['state/prompt-template.ts'] },
  {
    from: ['server'],
    of: 'state',
    files: ['state/files.ts', 'state/prompt-library.ts', 'state/prompt-template.ts'],
  },
  {
    from: ['catalog'],
    of: 'upstream',
    files: ['upstream/credential-source.ts', 'upstream/pem.ts', 'upstream/road.ts'],
  },
  { from: ['config'], of: 'upstream', files: ['upstream/network.ts', 'upstream/pem.ts'] },
  { from: ['tools'], of: 'runtime', files: ['runtime/clock.ts'] },
  { from: ['upstream'], of: 'runtime', files: ['runtime/socket.ts', 'runtime/clock.ts'] },
];

/** Plain data and how it is read: no sockets, no files. */
const PLAIN_DATA: ReadonlySet<string> = new Set(['upstream/pem.ts', 'upstream/road.ts']);

/** Packages, each with the places that may know it. */
const PACKAGES: Readonly<Record<string, string | readonly string[]>> = {
  '@modelcontextprotocol/client': 'tools/mcp/connection.ts',
  ajv: 'engine/adapt/schema-validator.ts',
  'gpt-tokenizer': 'ledger/',
  hono: ['server/', 'management/api.ts'],
  htmlparser2: 'tools/pages/html-reader.ts',
  jose: 'upstream/google-token.ts',
  kysely: 'storage/',
  pg: 'storage/postgres/pool.ts',
  'prom-client': 'metrics/exposition.ts',
  unpdf: 'documents/pdf-process.ts',
  yaml: 'config/parse-yaml.ts',
  zod: ['config/', 'management/', 'openapi/'],
};

interface Import {
  readonly file: string;
  /** Path below `src` for our own files, else the specifier. */
  readonly target: string;
  readonly isOwn: boolean;
  readonly isType: boolean;
}

interface Source {
  readonly file: string;
  readonly text: string;
  /** The text without comments and without the contents of strings. */
  readonly code: string;
  readonly imports: readonly Import[];
}

function readImports(file: string, text: string): readonly Import[] {
  const toImport = (specifier: string, isType: boolean): Import => {
    const isOwn = specifier.startsWith('.');
    const target = isOwn ? relative(ROOT, join(ROOT, dirname(file), specifier)) : specifier;
    return { file, target, isOwn, isType };
  };
  return importStatements(text).map(({ specifier, isType }) => toImport(specifier, isType));
}

/** The same for comments alone: those of whole lines. */
function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}

/** Good enough for looking for words: knows comments, strings and templates, not regular expressions. */
function codeOf(text: string): string {
  return text.replace(
    /\/\*[\s\S]*?\*\/|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|(^|[\s;{}(,])\/\/[^\n]*/g,
    (match, before: unknown) => {
      if (match.startsWith("'") || match.startsWith('"')) return "''";
      return typeof before === 'string' ? before : '';
    },
  );
}

const sources: readonly Source[] = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .toSorted()
  .map((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    return { file, text, code: codeOf(text), imports: readImports(file, text) };
  });
const files = new Set(sources.map((source) => source.file));
const imports = sources.flatMap((source) => source.imports);

function folderOf(file: string): string {
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : '';
}

function show({ file, target }: Import): string {
  return `${file} imports ${target}`;
}

/** Files whose code holds this. */
function filesWith(pattern: RegExp): readonly string[] {
  return sources.filter(({ code }) => pattern.test(code)).map(({ file }) => file);
}

describe('imports', () => {
  test('are found at all', () => {
    expect(sources.length).toBeGreaterThan(100);
    expect(imports.length).toBeGreaterThan(sources.length);
    const isData = (target: string): boolean => target.endsWith('.jsonl') && existsSync(join(ROOT, target));
    expect(
      imports.filter(({ isOwn, target }) => isOwn && !files.has(target) && !isData(target)).map(show),
    ).toEqual([]);
  });

  test('every folder has its rule', () => {
    const folders = new Set(sources.map(({ file }) => folderOf(file)).filter((folder) => folder !== ''));
    expect([...folders].filter((folder) => !Object.hasOwn(MAY_IMPORT, folder))).toEqual([]);
    // The one file outside of all folders starts the program, and nothing else.
    expect(sources.filter(({ file }) => folderOf(file) === '').map(({ file }) => file)).toEqual(['main.ts']);
    expect(imports.filter(({ file }) => file === 'main.ts').map(({ target }) => target)).toEqual([
      'cli/index.ts',
    ]);
  });

  test('follow the direction of the layers', () => {
    const wrong = imports.filter(({ file, target, isOwn }) => {
      const from = folderOf(file);
      const to = folderOf(target);
      return isOwn && from !== '' && from !== to && to !== 'lib' && MAY_IMPORT[from]?.includes(to) !== true;
    });
    expect(wrong.map(show)).toEqual([]);
  });

  test('take of some folders only what is meant for them', () => {
    const wrong = imports.filter(({ file, target }) =>
      ONLY_THESE.some(
        (rule) =>
          rule.from.includes(folderOf(file)) && folderOf(target) === rule.of && !rule.files.includes(target),
      ),
    );
    expect(wrong.map(show)).toEqual([]);
  });

  test.each([
    ['storage', 'ledger'],
    ['config', 'routing'],
    ['catalog', 'upstream'],
    ['providers', 'protocols'],
  ])('%s takes only types from %s', (from, of) => {
    const wrong = imports.filter(
      ({ file, target, isType }) =>
        folderOf(file) === from && folderOf(target) === of && !isType && !PLAIN_DATA.has(target),
    );
    expect(wrong.map(show)).toEqual([]);
  });

  test('enter a folder through its index where it has one', () => {
    const wrong = imports.filter(({ file, target, isOwn }) => {
      if (!isOwn || target.endsWith('/index.ts')) return false;
      // Every folder that is entered on the way from one file to the other.
      const steps = dirname(target).split('/');
      const entered = steps
        .map((_, at) => steps.slice(0, at + 1).join('/'))
        .filter((folder) => folder !== '.' && !`${file}`.startsWith(`${folder}/`));
      return entered.some((folder) => files.has(`${folder}/index.ts`));
    });
    expect(wrong.map(show)).toEqual([]);
  });

  test('rooms of the engine know only those that come before them', () => {
    const roomOf = (file: string): string => /^engine\/([^/]+)\//.exec(file)?.[1] ?? '';
    const rooms = new Set(sources.map(({ file }) => roomOf(file)).filter((room) => room !== ''));
    expect([...rooms].toSorted()).toEqual(Object.keys(ROOMS).toSorted());
    expect([...rooms].filter((room) => !files.has(`engine/${room}/index.ts`))).toEqual([]);
    const wrong = imports.filter(({ file, target }) => {
      const from = roomOf(file);
      const to = roomOf(target);
      return from !== '' && to !== '' && from !== to && ROOMS[from]?.includes(to) !== true;
    });
    expect(wrong.map(show)).toEqual([]);
  });

  test('no protocol imports another, and none knows the rest of the gateway', () => {
    // What stands beside the protocols' own folders is shared by them, as is what the protocols of one vendor have in
    // common; the index is for those who use them.
    const isShared = (target: string): boolean =>
      /^protocols\/((?:openai|google)\/)?[^/]+\.ts$/.test(target) &&
      target !== 'protocols/index.ts' &&
      target !== 'protocols/registry.ts';
    const wrong = imports.filter(({ file, target, isOwn }) => {
      const [, own = ''] = /^protocols\/([^/]+)\//.exec(file) ?? [];
      if (own === '' || !isOwn) return false;
      return (
        !target.startsWith(`protocols/${own}/`) && !/^(canonical|lib)\//.test(target) && !isShared(target)
      );
    });
    expect(wrong.map(show)).toEqual([]);
  });

  test('lib lists what it holds', () => {
    const table = readFileSync(join(ROOT, 'lib', 'README.md'), 'utf8');
    const listed = [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name = '']) => `lib/${name}`);
    expect(listed).toEqual([...files].filter((file) => folderOf(file) === 'lib'));
  });

  test('no provider imports another', () => {
    const wrong = imports.filter(({ file, target, isOwn }) => {
      const [, own = ''] = /^providers\/([^/]+)\//.exec(file) ?? [];
      if (own === '' || !isOwn) return false;
      return (
        !target.startsWith(`providers/${own}/`) &&
        !target.startsWith('canonical/') &&
        target !== 'providers/provider.ts'
      );
    });
    expect(wrong.map(show)).toEqual([]);
  });

  test('packages are known in one place each', () => {
    const packages = imports.filter(({ target, isOwn, isType, file }) => {
      if (isOwn || target.startsWith('node:') || target.startsWith('bun')) return false;
      // The vendors' own types, to check ours against.
      return !(
        isType &&
        file.endsWith('/wire-types.ts') &&
        /^(openai|@anthropic-ai\/sdk|@google\/genai)(\/|$)/.test(target)
      );
    });
    const nameOf = (target: string): string =>
      target
        .split('/')
        .slice(0, target.startsWith('@') ? 2 : 1)
        .join('/');
    const wrong = packages.filter(
      ({ file, target }) => ![PACKAGES[nameOf(target)] ?? []].flat().some((place) => file.startsWith(place)),
    );
    expect(packages.length).toBeGreaterThan(5);
    expect(wrong.map(show)).toEqual([]);
  });
});

describe('what only one place may do', () => {
  test('name the runtime', () => {
    const outside = (file: string): boolean => !file.startsWith('runtime/');
    expect(filesWith(/\bBun\b/).filter(outside)).toEqual([]);
    expect(imports.filter(({ file, target }) => /^bun(:|$)/.test(target) && outside(file)).map(show)).toEqual(
      [],
    );
  });

  test('read the environment', () => {
    expect(filesWith(/\bprocess\s*\.\s*env\b|\bimport\.meta\.env\b/)).toEqual(['runtime/environment.ts']);
  });

  test('touch the process', () => {
    expect(
      filesWith(/\bprocess\b/).filter(
        (file) =>
          !/^(cli\/|main\.ts$|runtime\/(environment|machine|subprocess|worker-process)\.ts$|storage\/secret-file\.ts$)/.test(
            file,
          ),
      ),
    ).toEqual([]);
  });

  test('open sockets to upstreams', () => {
    const network = imports.filter(({ target }) =>
      /^node:(net|tls|http|https|http2|dgram|dns)$/.test(target),
    );
    expect(new Set(network.map(({ file }) => file))).toEqual(
      new Set(['runtime/nested-tls.ts', 'runtime/socket.ts']),
    );
    const users = imports.filter(({ target, isType }) => target === 'runtime/socket.ts' && !isType);
    expect(users.map(({ file }) => file)).toEqual(['upstream/connection.ts', 'upstream/tunnel.ts']);
    expect(
      filesWith(/(?<![.\w]|function )fetch\((?!\w+: Request\b)|new WebSocket\(|\bBun\.connect\b/).filter(
        (file) => file !== 'runtime/socket.ts',
      ),
    ).toEqual([]);
  });

  test('write to the console', () => {
    expect(filesWith(/\bconsole\s*\.\s*\w+\(/)).toEqual([]);
  });

  test('be anything but pure: the model and the codecs are given their clock and their ids', () => {
    const pure = /^(canonical|protocols)\//;
    const outside = imports.filter(({ file, isOwn, isType }) => pure.test(file) && !isOwn && !isType);
    expect(outside.map(show)).toEqual([]);
    const impure =
      /\b(Date(?!\.parse\()|process|performance|setTimeout|setInterval|setImmediate|queueMicrotask|crypto|Buffer|async|await)\b|\bMath\.random\b/;
    expect(filesWith(impure).filter((file) => pure.test(file))).toEqual([]);
  });
});

describe('how sources are written', () => {
  test(`no file is longer than ${MAX_LINES} lines`, () => {
    const long = sources.filter(
      ({ file, text }) => !file.endsWith('/wire-types.ts') && text.trimEnd().split('\n').length > MAX_LINES,
    );
    expect(long.map(({ file }) => file)).toEqual([]);
  });

  test('every file begins by saying what it owns', () => {
    expect(sources.filter(({ text }) => !/^\/\/ \S.{20,}/.test(text)).map(({ file }) => file)).toEqual([]);
  });

  test('comments say the rule, not the number under which another document has it', () => {
    const cited = /^\s*(?:\/\/|\*|\/\*\*).*(?:\bC-\d{2}\b|\brequirements? \d+\.\d+)/im;
    expect(sources.filter(({ text }) => cited.test(text)).map(({ file }) => file)).toEqual([]);
  });

  test('files are named after what they hold', () => {
    const wrong = sources.filter(
      ({ file }) =>
        !/^([a-z0-9]+(-[a-z0-9]+)*\/)*[a-z0-9]+(-[a-z0-9]+)*(\.d)?\.ts$/.test(file) ||
        /(^|[/-])(utils?|helpers?|manager|service|misc|common)\.ts$/.test(file),
    );
    expect(wrong.map(({ file }) => file)).toEqual([]);
  });

  test('no type is given up', () => {
    expect(filesWith(/(?::|\bas|<|\||&|=>)\s*any\b|\bany\[\]|,\s*any\s*>/)).toEqual([]);
    const silenced = sources.filter(({ text }) =>
      /@ts-(ignore|nocheck|expect-error)|(oxlint|eslint)-disable/.test(text),
    );
    expect(silenced.map(({ file }) => file)).toEqual([]);
  });

  test('nothing asks which provider it has in front of it', () => {
    expect(
      filesWith(
        /\bprovider(?:Id|Name)?(?:\.(?:id|name))?\s*[!=]==?\s*''|''\s*[!=]==?\s*provider\b|\bswitch\s*\(\s*(?:\w+\.)?provider(?:Id|Name)?\s*\)/,
      ),
    ).toEqual([]);
  });

  test('protocols are named in their own folders, and in data about who speaks which', () => {
    const isData = (file: string): boolean => /^(providers|catalog\/families)\//.test(file);
    const named = new RegExp(`'(?:${PROTOCOL_NAMES.join('|')})'`);
    expect(PROTOCOL_NAMES.length).toBeGreaterThan(4);
    expect(
      sources
        .filter(({ file, text }) => named.test(withoutComments(text)) && !isData(file))
        .map(({ file }) => file)
        .filter((file) => !file.startsWith('protocols/')),
    ).toEqual([]);
  });

  test('erasable syntax only', () => {
    expect(filesWith(/^\s*(?:export\s+)?(?:declare\s+)?(?:const\s+)?(?:enum|namespace)\s+\w+/m)).toEqual([]);
  });
});
