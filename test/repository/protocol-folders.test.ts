// Every protocol's folder has the same file for the same role, so that who knows one knows all of them.
import { expect, test } from 'bun:test';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { protocols, servedProtocols, type Protocol } from '../../src/protocols/index.ts';
import { PROTOCOLS } from '../contract/protocols/feature.ts';

const FOLDER = join(import.meta.dir, '..', '..', 'src', 'protocols');
/** What the protocols of one vendor have in common, by how their names begin. */
const SHARED: readonly (readonly [names: string, folder: string])[] = [
  ['openai-', 'openai'],
  ['gemini', 'google'],
];
/** Bodies in the forms of several protocols, and what the codecs of a task share. */
const NO_PROTOCOLS = ['mixed-bodies', 'tasks', ...SHARED.map(([, folder]) => folder)];

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
      'upstream.ts',
      'server-facts.ts',
      'encode-request.ts',
      'decode-response.ts',
      'decode-stream.ts',
      'answer-emitter.ts',
      'decode-usage.ts',
      'decode-error.ts',
    ],
  },
  {
    has: ({ server }) => server !== undefined,
    files: [
      'server.ts',
      'addresses.ts',
      'client-names.ts',
      'decode-request.ts',
      'decode-conversation.ts',
      'fields.ts',
      'named-objects.ts',
      'encode-response.ts',
      'encode-stream.ts',
      'encode-error.ts',
    ],
  },
  { has: isTranslated, files: ['encode-conversation.ts', 'encode-parts.ts', 'encode-tools.ts'] },
  {
    has: (protocol) => protocol.server !== undefined && isTranslated(protocol),
    files: ['decode-tools.ts', 'member-shapes.ts', 'encode-usage.ts'],
  },
  { has: ({ server }) => server?.remoteAnswers !== undefined, files: ['remote-answers.ts'] },
  { has: ({ relay }) => relay !== undefined, files: ['relay.ts', 'relay-stream.ts'] },
  { has: ({ server }) => server?.items !== undefined, files: ['stored-items.ts'] },
];

/** Requests of other protocols' clients can be said in it. */
function isTranslated({ upstream }: Protocol): boolean {
  return upstream.facts.forOwnClients !== true;
}

test.each(protocols.map((protocol) => [protocol.name, protocol] as const))(
  '%s has a file for each of its roles',
  (name, protocol) => {
    const own = readdirSync(join(FOLDER, name));
    const isShared = (file: string): boolean =>
      SHARED.some(([names, folder]) => name.startsWith(names) && existsSync(join(FOLDER, folder, file)));
    const missing = ROLES.filter(({ has }) => has(protocol))
      .flatMap(({ files }) => files)
      .filter((file) => !own.includes(file) && !isShared(file));
    expect(missing).toEqual([]);
    // A file of a role that the protocol has not got would be nobody's.
    const idle = ROLES.filter(({ has }) => !has(protocol)).flatMap(({ files }) => files);
    expect(own.filter((file) => idle.includes(file))).toEqual([]);
  },
);

test('every folder is that of a protocol in the registry, under its name', () => {
  const folders = readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(folders.map(({ name }) => name).toSorted()).toEqual(
    [...protocols.map(({ name }) => name), ...NO_PROTOCOLS].toSorted(),
  );
});

test('the matrix of what survives has a client for every protocol from which is translated', () => {
  expect([...PROTOCOLS] as string[]).toEqual(servedProtocols.filter(isTranslated).map(({ name }) => name));
});
