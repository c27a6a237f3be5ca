// Every protocol's folder has the same file for the same role, so that who knows one knows all of them.
import { expect, test } from 'bun:test';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { protocols, servedProtocols, type Protocol } from '../../src/protocols/index.ts';
import { PROTOCOLS } from '../contract/protocols/feature.ts';

const FOLDER = join(import.meta.dir, '..', '..', 'src', 'protocols');
/** Folders that the protocols of one vendor share, by how their names begin. */
const SHARED: readonly (readonly [names: string, folder: string])[] = [
  ['openai-', 'openai'],
  ['gemini', 'google'],
];
/** Folders that all protocols share. */
const NO_PROTOCOLS = [
  'calls',
  'codec',
  'content',
  'errors',
  'members',
  'mixed-bodies',
  'relay',
  'streams',
  'tasks',
  'usage',
  ...SHARED.map(([, folder]) => folder),
];
/** Folders that a protocol may have: both directions of requests and of answers, tasks besides text, batches, files. */
const INNER = ['answers', 'batches', 'files', 'requests', 'tasks'];
const MOST_FILES = 40;

interface Role {
  /** The side of a protocol that has the role. */
  readonly has: (protocol: Protocol) => boolean;
  readonly files: readonly string[];
}

const ROLES: readonly Role[] = [
  {
    has: () => true,
    files: [
      'index.ts',
      'requests/encode-request.ts',
      'answers/decode-response.ts',
      'answers/decode-stream.ts',
      'answers/answer-emitter.ts',
      'answers/decode-usage.ts',
      'answers/decode-error.ts',
    ],
  },
  {
    has: ({ server }) => server !== undefined,
    files: [
      'addresses.ts',
      'fields.ts',
      'named-objects.ts',
      'requests/decode-request.ts',
      'requests/decode-conversation.ts',
      'answers/encode-response.ts',
      'answers/encode-stream.ts',
      'answers/encode-error.ts',
    ],
  },
  {
    has: isTranslated,
    files: ['requests/encode-conversation.ts', 'requests/encode-parts.ts', 'requests/encode-tools.ts'],
  },
  {
    has: (protocol) => protocol.server !== undefined && isTranslated(protocol),
    files: ['requests/decode-tools.ts', 'member-shapes.ts', 'answers/encode-usage.ts'],
  },
  { has: ({ server }) => server?.remoteAnswers !== undefined, files: ['remote-answers.ts'] },
  { has: ({ relay }) => relay !== undefined, files: ['relay.ts', 'relay-stream.ts'] },
  { has: ({ server }) => server?.items !== undefined, files: ['stored-items.ts'] },
];

/** Requests of other protocols' clients can be said in it. */
function isTranslated({ upstream }: Protocol): boolean {
  return upstream.facts.forOwnClients !== true;
}

function foldersIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

test.each(protocols.map((protocol) => [protocol.name, protocol] as const))(
  '%s has a file for each of its roles',
  (name, protocol) => {
    const own = readdirSync(join(FOLDER, name), { recursive: true, encoding: 'utf8' });
    const isShared = (file: string): boolean =>
      SHARED.some(
        ([names, folder]) => name.startsWith(names) && existsSync(join(FOLDER, folder, basename(file))),
      );
    const missing = ROLES.filter(({ has }) => has(protocol))
      .flatMap(({ files }) => files)
      .filter((file) => !own.includes(file) && !isShared(file));
    expect(missing).toEqual([]);
    // A file of a role that the protocol has not got would be nobody's.
    const idle = ROLES.filter(({ has }) => !has(protocol)).flatMap(({ files }) => files);
    expect(own.filter((file) => idle.includes(file))).toEqual([]);
  },
);

test('a protocol has the folders of its kind, and none has too many files', () => {
  const inner = protocols.flatMap(({ name }) => foldersIn(join(FOLDER, name)));
  expect([...new Set(inner)].toSorted()).toEqual(INNER);
  const all = ['', ...readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })]
    .map((path) => join(FOLDER, path))
    .filter((path) => statSync(path).isDirectory());
  expect(all.filter((folder) => readdirSync(folder).length - foldersIn(folder).length > MOST_FILES)).toEqual(
    [],
  );
});

test('every folder is that of a protocol in the registry, under its name', () => {
  expect(foldersIn(FOLDER).toSorted()).toEqual(
    [...protocols.map(({ name }) => name), ...NO_PROTOCOLS].toSorted(),
  );
});

test('the translation matrix has a client for every client protocol', () => {
  expect([...PROTOCOLS] as string[]).toEqual(servedProtocols.filter(isTranslated).map(({ name }) => name));
});
