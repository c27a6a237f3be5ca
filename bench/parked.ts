// Cost of an answer in the background while it waits: private memory of the gateway for each, and how soon they are taken. Run with
// `node bin/bun.mjs run bench/parked.ts [answers]`.
import { readFileSync } from 'node:fs';
import { freshFolder, runtimePid, startProgram } from '../test/support/program.ts';

const answers = Number(process.argv[2] ?? 10_000);
/** Before the first measurement: what the first requests need stays. */
const WARM_UP = 500;
const SIDE_BY_SIDE = 32;
/** Time in which memory of requests that are over is released, in milliseconds. */
const REST_MS = 12_000;

const { folder, remove } = freshFolder();
const config = {
  keys: [{ name: 'bench', key: 'sk-test' }],
  logging: { level: 'error' },
  // They wait: nobody runs them.
  jobs: { concurrent: 0, max_open: answers + WARM_UP },
};
await Bun.write(`${folder}/dragoman.yaml`, JSON.stringify(config));
const gateway = await startProgram(['serve', '--port', '0', '--data-dir', `${folder}/data`], { folder });
const pid = runtimePid(gateway.pid);

/** Bytes that no other process shares. */
function privateBytes(): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const of = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0);
  return (of('Private_Dirty') + of('Private_Clean')) * 1024;
}

async function park(): Promise<void> {
  const response = await fetch(`${gateway.origin}/v1/responses`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'sim/chat',
      input: 'What is the longest river of Finland?',
      background: true,
    }),
  });
  if (response.status !== 200) throw new Error(await response.text());
  await response.text();
}

async function parkAll(count: number): Promise<number> {
  const beganAt = performance.now();
  let left = count;
  const one = async (): Promise<void> => {
    while (left-- > 0) await park();
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, one));
  return performance.now() - beganAt;
}

await parkAll(WARM_UP);
await Bun.sleep(REST_MS);
const before = privateBytes();
const ms = await parkAll(answers);
await Bun.sleep(REST_MS);
const after = privateBytes();
console.log(
  `${answers} answers that wait: ${((after - before) / answers / 1024).toFixed(2)} kB of private memory each (${(before / 1e6).toFixed(1)} MB before, ${(after / 1e6).toFixed(1)} MB after); ${Math.round((answers / ms) * 1000)} were taken in a second`,
);
await gateway.stop();
remove();
