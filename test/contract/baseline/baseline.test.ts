// Frozen baselines: a data directory and a PostgreSQL database of every released schema version open with the program of now, and
// everything in them is as it was.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Ask, expectAnswer, VERSIONS } from './asks.ts';
import { openDirectory, openDump, takeUp, unpack } from './open.ts';
import { freshFolder } from '../../support/program.ts';
import { POSTGRES_PROGRAMS } from '../../support/servers/postgres.ts';
import { isWhole } from '../../support/share.ts';
import { undoAfterEach } from '../../support/undo.ts';

// The first test starts the server of a database.
setDefaultTimeout(180_000);

const ends = undoAfterEach();
const KINDS = [
  ['directory', openDirectory],
  ['postgres', openDump],
] as const;

/** An explanation of a request, with the members that are compared apart. */
interface Explained {
  readonly text?: string;
  readonly failure?: { readonly message?: string } | null;
}

/**
 * The lasting part of a frozen answer. The state of a delivery changes when it is tried again. The words of an explanation are
 * composed when it is read, and may improve; its facts stay.
 */
function lasting(ask: Ask): Ask {
  if (ask.path.endsWith('/deliveries')) {
    const { data } = ask.answer as { readonly data: readonly { readonly id: string }[] };
    return { ...ask, answer: { data: data.map(({ id }) => ({ id })) } };
  }
  const answer = ask.answer as { readonly explanation?: Explained } | null;
  if (answer?.explanation?.text === undefined) return ask;
  const { text: _text, failure, ...facts } = answer.explanation;
  const { message: _message, ...failed } = failure ?? {};
  return { ...ask, answer: { ...answer, explanation: failure ? { ...facts, failure: failed } : facts } };
}

/** The oldest and the newest stand for those between them. */
const tried = isWhole
  ? VERSIONS
  : VERSIONS.filter((_, index) => index === 0 || index === VERSIONS.length - 1);

for (const version of tried)
  for (const [kind, open] of KINDS)
    describe.skipIf(kind === 'postgres' && POSTGRES_PROGRAMS === null)(`schema ${version}, ${kind}`, () => {
      test('contains all that it contained when it was made, and accepts new data', async () => {
        const { folder, remove } = freshFolder();
        ends.push(remove);
        const { madeAt, asks } = unpack(version, kind, folder);
        expect(asks.length).toBeGreaterThan(30);
        const opened = await open(folder, madeAt);
        ends.push(() => opened.close());
        await takeUp(opened, asks);
        for (const ask of asks) await expectAnswer(opened.origin, lasting(ask));
      });
    });
