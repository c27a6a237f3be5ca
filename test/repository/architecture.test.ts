// The import rules of the architecture, checked on the sources as they are: which folder may know which, what only one
// file may do, and how large a file may grow. A rule that has to give way is changed here, in the open.
import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { PROTOCOL_NAMES } from '../../src/protocols/index.ts';
import { importStatements } from '../support/import-statements.ts';

const ROOT = join(import.meta.dir, '..', '..', 'src');
const MAX_LINES = 400;

/** The twelve rooms, from the ground up, each with the rooms that it may import. None imports a room below itself in this list. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  canonical: ['base'],
  protocols: ['base', 'canonical'],
  upstream: ['base', 'canonical'],
  catalog: ['base', 'canonical', 'protocols', 'upstream'],
  accounts: ['base', 'canonical', 'catalog'],
  storage: ['base', 'canonical', 'accounts'],
  engine: ['base', 'canonical', 'protocols', 'upstream', 'catalog', 'accounts'],
  server: ['base', 'canonical', 'protocols', 'catalog', 'accounts', 'engine'],
  operations: ['base', 'canonical', 'protocols', 'upstream', 'catalog', 'accounts', 'engine', 'server'],
  cluster: ['base', 'canonical', 'accounts', 'engine'],
  app: [
    'base',
    'canonical',
    'protocols',
    'upstream',
    'catalog',
    'accounts',
    'storage',
    'engine',
    'server',
    'operations',
    'cluster',
    'sim',
  ],
};

/** Rooms that the simulated provider, a folder beside `src`, may import. */
const SIM_MAY_IMPORT: readonly string[] = ['base', 'canonical'];

/**
 * Folders inside a room, each with the folders of that room that it may import. The engine's come in the order of a request's
 * life: first what every stage uses, then the stages.
 */
const INSIDE: Readonly<Record<string, readonly string[]>> = {
  'base/lib': [],
  'base/json': ['lib'],
  'base/runtime': ['lib'],
  'base/telemetry': ['lib'],
  'accounts/limits': [],
  'accounts/schema': ['limits'],
  'accounts/ledger': ['ports'],
  'accounts/usage': ['ledger', 'limits'],
  'accounts/ports': ['ledger', 'limits', 'usage'],
  'accounts/auth': ['limits', 'ports'],
  'engine/documents': [],
  'engine/grammar': [],
  'engine/routing': [],
  'engine/streams': [],
  'engine/state': [],
  'engine/tools': ['documents'],
  'engine/adapt': ['documents', 'grammar', 'state'],
  'engine/media': ['documents', 'state'],
  'engine/admit': ['adapt', 'media', 'routing', 'state'],
  'engine/attempt': ['adapt', 'routing'],
  'engine/answer': ['adapt', 'admit', 'attempt', 'streams'],
  'engine/failover': ['adapt', 'admit', 'answer', 'attempt', 'media', 'routing'],
  'engine/record': ['admit', 'answer', 'attempt', 'state'],
  'engine/tool-loop': ['admit', 'answer', 'attempt', 'failover', 'routing', 'tools'],
  'engine/jobs': ['admit', 'streams'],
  'engine/tasks': [
    'adapt',
    'admit',
    'answer',
    'attempt',
    'failover',
    'media',
    'routing',
    'record',
    'state',
    'tool-loop',
  ],
  'engine/batches': ['admit', 'attempt', 'jobs', 'state', 'tasks'],
  'operations/alerts': [],
  'operations/webhooks': ['alerts'],
  'operations/doctor': [],
  'operations/guide': [],
  'operations/metrics': [],
  'operations/payloads': [],
  'operations/what-if': [],
  'operations/wire-diff': [],
  'operations/events': ['alerts'],
  'operations/traces': ['metrics'],
  'operations/management': ['alerts', 'doctor', 'events', 'payloads', 'webhooks', 'what-if', 'wire-diff'],
  'operations/openapi': ['guide', 'management'],
  'operations/console': ['management'],
  'cluster/counters': [],
  'cluster/exchange': ['counters'],
  'cluster/valkey': ['exchange'],
  'cluster/workers': ['exchange'],
  'app/config': [],
  'app/cli': ['config'],
};

/** Folders whose rooms have an index of their own that is not the way into them. */
const OWN_DOORS: readonly string[] = [
  'accounts/schema',
  'catalog/providers',
  'catalog/schema',
  'engine/documents',
  'engine/grammar',
  'engine/routing',
  'engine/state',
  'engine/tools',
  'protocols/tasks',
];

/** Files that folders may import of another folder where not everything in it is meant for them. */
const ONLY_THESE: readonly {
  readonly from: readonly string[];
  readonly of: string;
  readonly files: readonly string[];
}[] = [
  {
    from: ['engine', 'server', 'operations'],
    of: 'base/runtime',
    files: [
      'base/runtime/clock.ts',
      'base/runtime/http-server.ts',
      'base/runtime/ids.ts',
      'base/runtime/subprocess.ts',
    ],
  },
  {
    from: ['storage'],
    of: 'base/runtime',
    files: [
      'base/runtime/machine.ts',
      'base/runtime/mapped-file.ts',
      'base/runtime/s3.ts',
      'base/runtime/sqlite.ts',
    ],
  },
  { from: ['upstream'], of: 'base/runtime', files: ['base/runtime/socket.ts', 'base/runtime/clock.ts'] },
  { from: ['app/config'], of: 'engine/state', files: ['engine/state/prompt-template.ts'] },
  {
    from: ['server'],
    of: 'engine/state',
    files: ['engine/state/files.ts', 'engine/state/prompt-library.ts', 'engine/state/prompt-template.ts'],
  },
  {
    from: ['catalog'],
    of: 'upstream',
    files: ['upstream/credential-source.ts', 'upstream/pem.ts', 'upstream/network-route.ts'],
  },
  { from: ['app/config'], of: 'upstream', files: ['upstream/network.ts', 'upstream/pem.ts'] },
];

/** Plain data and how it is read: no sockets, no files. */
const PLAIN_DATA: ReadonlySet<string> = new Set(['upstream/pem.ts', 'upstream/network-route.ts']);

/** Packages, each with the places that may know it. */
const PACKAGES: Readonly<Record<string, string | readonly string[]>> = {
  '@modelcontextprotocol/client': 'engine/tools/mcp/connection.ts',
  ajv: ['engine/adapt/schema-validator.ts', 'engine/adapt/string-formats.ts'],
  'ajv-formats': 'engine/adapt/string-formats.ts',
  'gpt-tokenizer': 'accounts/ledger/',
  hono: ['server/', 'operations/management/api.ts'],
  htmlparser2: 'engine/tools/pages/html-reader.ts',
  jose: 'upstream/google-token.ts',
  kysely: 'storage/',
  pg: 'storage/postgres/pool.ts',
  'prom-client': 'operations/metrics/exposition.ts',
  unpdf: 'engine/documents/pdf-process.ts',
  yaml: 'app/config/parse-yaml.ts',
  zod: [
    'accounts/schema/',
    'app/config/',
    'catalog/schema/',
    'operations/management/',
    'operations/openapi/',
    'protocols/',
    'server/',
    'base/lib/route-description.ts',
  ],
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

/** The first folder of a path: a room. Of a file beside `src`, '..'. */
function roomOf(file: string): string {
  return file.slice(0, Math.max(file.indexOf('/'), 0));
}

/** The folder inside a room in which a file stands, as `room/folder`; '' for a file of the room itself. */
function folderOf(file: string): string {
  return /^[^/]+\/[^/]+(?=\/)/.exec(file)?.[0] ?? '';
}

function isIn(file: string, folder: string): boolean {
  return file.startsWith(`${folder}/`);
}

function show({ file, target }: Import): string {
  return `${file} imports ${target}`;
}

/** Files whose code holds this. */
function filesWith(pattern: RegExp): readonly string[] {
  return sources.filter(({ code }) => pattern.test(code)).map(({ file }) => file);
}

describe('imports', () => {
  test('are found', () => {
    expect(sources.length).toBeGreaterThan(100);
    expect(imports.length).toBeGreaterThan(sources.length);
    const isData = (target: string): boolean => target.endsWith('.jsonl') && existsSync(join(ROOT, target));
    const isSim = (target: string): boolean => target === '../sim/index.ts';
    expect(
      imports
        .filter(({ isOwn, target }) => isOwn && !files.has(target) && !isData(target) && !isSim(target))
        .map(show),
    ).toEqual([]);
  });

  test('every room has its rule, its place and its README', () => {
    const rooms = new Set(sources.map(({ file }) => roomOf(file)));
    expect([...rooms].toSorted()).toEqual(Object.keys(MAY_IMPORT).toSorted());
    const order = Object.keys(MAY_IMPORT);
    const upwards = Object.entries(MAY_IMPORT).flatMap(([room, others]) =>
      others
        .filter((other) => other !== 'sim' && order.indexOf(other) >= order.indexOf(room))
        .map((other) => `${room} imports ${other}`),
    );
    expect(upwards).toEqual([]);
    expect(order.filter((room) => !existsSync(join(ROOT, room, 'README.md')))).toEqual([]);
    expect(imports.filter(({ file }) => file === 'app/main.ts').map(({ target }) => target)).toEqual([
      'app/cli/index.ts',
    ]);
  });

  test('no room imports one above it', () => {
    const wrong = imports.filter(({ file, target, isOwn }) => {
      const from = roomOf(file);
      const to = isIn(target, '../sim') ? 'sim' : roomOf(target);
      return isOwn && from !== to && MAY_IMPORT[from]?.includes(to) !== true;
    });
    expect(wrong.map(show)).toEqual([]);
  });

  test('folders of a room import only earlier ones', () => {
    const ruled = new Set(Object.keys(INSIDE).map(roomOf));
    const found = new Set(
      sources.map(({ file }) => folderOf(file)).filter((folder) => ruled.has(roomOf(folder))),
    );
    expect([...found].toSorted()).toEqual(Object.keys(INSIDE).toSorted());
    const wrong = imports.filter(({ file, target }) => {
      const from = folderOf(file);
      const to = folderOf(target);
      const isInside = from !== '' && to !== '' && from !== to && roomOf(from) === roomOf(to);
      return (
        isInside && ruled.has(roomOf(from)) && INSIDE[from]?.includes(to.slice(to.indexOf('/') + 1)) !== true
      );
    });
    expect(wrong.map(show)).toEqual([]);
  });

  test('the simulated provider imports only the canonical model', () => {
    const folder = join(ROOT, '..', 'sim');
    const wrong = readdirSync(folder)
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => readImports(`../sim/${file}`, readFileSync(join(folder, file), 'utf8')))
      .filter(
        ({ target, isOwn }) => isOwn && !isIn(target, '../sim') && !SIM_MAY_IMPORT.includes(roomOf(target)),
      );
    expect(wrong.map(show)).toEqual([]);
  });

  test('of some folders are only of their public files', () => {
    const wrong = imports.filter(({ file, target }) =>
      ONLY_THESE.some(
        (rule) =>
          rule.from.some((folder) => isIn(file, folder)) &&
          isIn(target, rule.of) &&
          !rule.files.includes(target),
      ),
    );
    expect(wrong.map(show)).toEqual([]);
  });

  test.each([
    ['app/config', 'engine/routing'],
    ['catalog', 'upstream'],
    ['catalog/providers', 'protocols'],
  ])('%s takes only types from %s', (from, of) => {
    const wrong = imports.filter(
      ({ file, target, isType }) =>
        isIn(file, from) && isIn(target, of) && !isType && !PLAIN_DATA.has(target),
    );
    expect(wrong.map(show)).toEqual([]);
  });

  test('of a folder with an index go through the index', () => {
    const wrong = imports.filter(({ file, target, isOwn }) => {
      // Programs of their own have no door: the executable starts them as the runtime does, by their file.
      if (file === 'app/executable.ts' && target.endsWith('-process.ts')) return false;
      if (!isOwn || target.endsWith('/index.ts')) return false;
      // Every folder that is entered on the way from one file to the other. A folder with a door of its own is not entered
      // through its room.
      const steps = dirname(target).split('/');
      const entered = steps
        .map((_, at) => steps.slice(0, at + 1).join('/'))
        .filter((folder) => folder !== '.' && !isIn(file, folder))
        .filter((folder) => !OWN_DOORS.some((door) => isIn(door, folder) && isIn(target, door)));
      return entered.some((folder) => files.has(`${folder}/index.ts`));
    });
    expect(wrong.map(show)).toEqual([]);
  });

  test('no protocol imports another one, or the rest of the gateway', () => {
    // Files beside the protocols' own folders are shared by them, as is what the protocols of one vendor have in
    // common; the index is for those who use them.
    const isShared = (target: string): boolean =>
      /^protocols\/((?:calls|codec|content|errors|google|members|openai|relay|streams|usage)\/|tasks\/[^/]+\/)?[^/]+\.ts$/.test(
        target,
      ) &&
      target !== 'protocols/index.ts' &&
      target !== 'protocols/registry.ts';
    const wrong = imports.filter(({ file, target, isOwn }) => {
      const [, own = ''] = /^protocols\/([^/]+)\//.exec(file) ?? [];
      // A task's list of those who have it is to them what the registry is to protocols.
      const isList = /^protocols\/tasks\/[^/]+\/codecs\.ts$/.test(file);
      if (own === '' || !isOwn || isList) return false;
      return (
        !target.startsWith(`protocols/${own}/`) && !/^(canonical|base)\//.test(target) && !isShared(target)
      );
    });
    expect(wrong.map(show)).toEqual([]);
  });

  test('the README of lib lists its files', () => {
    const table = readFileSync(join(ROOT, 'base', 'lib', 'README.md'), 'utf8');
    const listed = [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name = '']) => `base/lib/${name}`);
    expect(listed).toEqual([...files].filter((file) => isIn(file, 'base/lib')));
  });

  test('no provider imports another', () => {
    const wrong = imports.filter(({ file, target, isOwn }) => {
      const [, own = ''] = /^catalog\/providers\/([^/]+)\//.exec(file) ?? [];
      if (own === '' || !isOwn) return false;
      return (
        !target.startsWith(`catalog/providers/${own}/`) &&
        !target.startsWith('canonical/') &&
        target !== 'catalog/providers/provider.ts'
      );
    });
    expect(wrong.map(show)).toEqual([]);
  });

  test('each package is imported in one place', () => {
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

describe('operations that only one place may do', () => {
  test('name the runtime', () => {
    const outside = (file: string): boolean => !isIn(file, 'base/runtime');
    expect(filesWith(/\bBun\b/).filter(outside)).toEqual([]);
    expect(imports.filter(({ file, target }) => /^bun(:|$)/.test(target) && outside(file)).map(show)).toEqual(
      [],
    );
  });

  test('read the environment', () => {
    expect(filesWith(/\bprocess\s*\.\s*env\b|\bimport\.meta\.env\b/)).toEqual([
      'base/runtime/environment.ts',
    ]);
  });

  test('touch the process', () => {
    expect(
      filesWith(/\bprocess\b/).filter(
        (file) =>
          !/^(app\/cli\/|app\/main\.ts$|base\/runtime\/(environment|machine|subprocess|worker-process)\.ts$|storage\/secrets\/secret-file\.ts$)/.test(
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
      // The last compares addresses.
      new Set(['base/runtime/nested-tls.ts', 'base/runtime/socket.ts', 'upstream/address-ranges.ts']),
    );
    const users = imports.filter(({ target, isType }) => target === 'base/runtime/socket.ts' && !isType);
    expect(users.map(({ file }) => file)).toEqual(['upstream/connection.ts', 'upstream/tunnel.ts']);
    expect(
      filesWith(/(?<![.\w]|function )fetch\((?!\w+: Request\b)|new WebSocket\(|\bBun\.connect\b/).filter(
        // The second asks the gateway of this machine alone.
        (file) => !['base/runtime/socket.ts', 'base/runtime/own-health.ts'].includes(file),
      ),
    ).toEqual([]);
  });

  test('take the answer of an upstream', () => {
    const others = filesWith(/(?<![.\w])receive\((?!bytes: Buffer)/);
    expect(others).toEqual(['upstream/ask.ts']);
  });

  test('write to the console', () => {
    expect(filesWith(/\bconsole\s*\.\s*\w+\(/)).toEqual([]);
  });

  test('be anything but pure: the model and the codecs are given their clock and their ids', () => {
    const pure = /^(base\/json|canonical|protocols)\//;
    const outside = imports.filter(
      // Schemas, of which descriptions are made, have neither.
      ({ file, target, isOwn, isType }) => pure.test(file) && !isOwn && !isType && target !== 'zod',
    );
    expect(outside.map(show)).toEqual([]);
    const impure =
      /\b(Date(?!\.parse\()|process|performance|setTimeout|setInterval|setImmediate|queueMicrotask|crypto|async|await)\b|\bMath\.random\b/;
    expect(filesWith(impure).filter((file) => pure.test(file))).toEqual([]);
    // Bodies are bytes where JSON is read and edited, and nowhere above.
    const isCodec = (file: string): boolean => pure.test(file) && !file.startsWith('base/json/');
    expect(filesWith(/\bBuffer\b/).filter(isCodec)).toEqual([]);
  });
});

describe('how sources are written', () => {
  test(`no file is longer than ${MAX_LINES} lines`, () => {
    const long = sources.filter(
      ({ file, text }) => !file.endsWith('/wire-types.ts') && text.trimEnd().split('\n').length > MAX_LINES,
    );
    expect(long.map(({ file }) => file)).toEqual([]);
  });

  test('every file begins with a comment on its content', () => {
    expect(sources.filter(({ text }) => !/^\/\/ \S.{20,}/.test(text)).map(({ file }) => file)).toEqual([]);
  });

  test('comments state the rule, not its number in another document', () => {
    const cited = /^\s*(?:\/\/|\*|\/\*\*).*(?:\bC-\d{2}\b|\brequirements? \d+\.\d+)/im;
    expect(sources.filter(({ text }) => cited.test(text)).map(({ file }) => file)).toEqual([]);
  });

  test('files are named after their content', () => {
    const wrong = sources.filter(
      ({ file }) =>
        !/^([a-z0-9]+(-[a-z0-9]+)*\/)*[a-z0-9]+(-[a-z0-9]+)*(\.d)?\.ts$/.test(file) ||
        /(^|[/-])(utils?|helpers?|manager|service|misc|common)\.ts$/.test(file),
    );
    expect(wrong.map(({ file }) => file)).toEqual([]);
  });

  test('no type is any, and no check is silenced', () => {
    expect(filesWith(/(?::|\bas|<|\||&|=>)\s*any\b|\bany\[\]|,\s*any\s*>/)).toEqual([]);
    const silenced = sources.filter(({ text }) =>
      /@ts-(ignore|nocheck|expect-error)|(oxlint|eslint)-disable/.test(text),
    );
    expect(silenced.map(({ file }) => file)).toEqual([]);
  });

  test('no code compares the name of a provider', () => {
    expect(
      filesWith(
        /\bprovider(?:Id|Name)?(?:\.(?:id|name))?\s*[!=]==?\s*''|''\s*[!=]==?\s*provider\b|\bswitch\s*\(\s*(?:\w+\.)?provider(?:Id|Name)?\s*\)/,
      ),
    ).toEqual([]);
  });

  test('protocol names occur only in their own folders, and in data about providers', () => {
    const isData = (file: string): boolean =>
      /^catalog\/(providers|families)\/|^storage\/compact\/dictionary\.ts$/.test(file);
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
