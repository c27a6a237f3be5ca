// Preloaded into a gateway for inspection (BUN_OPTIONS=--preload=…). Answers one-line commands on a Unix socket with
// one line of JSON. Costs requests nothing while it is not used.
//
//   heap                     number of objects and bytes of the JavaScript heap
//   collect                  the same after a full garbage collection
//   profile-start MICROS     starts a sampling profiler, and answers `{}`
//   profile-stop FILE        stops it and writes a .cpuprofile
//   coverage FILE            writes the number of calls of each function since the start or the previous command: V8's
//                            precise coverage. Requires DRAGOMAN_BENCH_COVERAGE
import { writeFileSync } from 'node:fs';
import type { Session } from 'node:inspector';
import { heapStats } from 'bun:jsc';

const path = process.env['DRAGOMAN_BENCH_PROBE'] ?? '';
// Processes that the gateway starts are not inspected.
delete process.env['BUN_OPTIONS'];
delete process.env['DRAGOMAN_BENCH_PROBE'];

/** Loaded on first use, because it needs memory. */
let inspector: Session | undefined;

if (process.env['DRAGOMAN_BENCH_COVERAGE'] !== undefined) {
  // Only counts code that is loaded afterwards.
  await ask('Profiler.enable');
  await ask('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
}

const COMMANDS: Readonly<Record<string, (argument: string) => object | Promise<object>>> = {
  heap: () => heap(),
  collect() {
    Bun.gc(true);
    return heap();
  },
  async 'profile-start'(micros) {
    await ask('Profiler.enable');
    await ask('Profiler.setSamplingInterval', { interval: Number(micros) });
    await ask('Profiler.start');
    return {};
  },
  async 'profile-stop'(file) {
    const { profile } = (await ask('Profiler.stop')) as { profile: object };
    writeFileSync(file, JSON.stringify(profile));
    return {};
  },
  async coverage(file) {
    writeFileSync(file, JSON.stringify(await ask('Profiler.takePreciseCoverage')));
    return {};
  },
};

function heap(): object {
  const { heapSize, objectCount, extraMemorySize } = heapStats();
  return { heapSize, objectCount, extraMemorySize };
}

/** Calls a method of the inspector. */
async function ask(method: string, parameters: object = {}): Promise<object> {
  if (inspector === undefined) {
    const { Session } = await import('node:inspector');
    inspector = new Session();
    inspector.connect();
  }
  const session = inspector;
  return new Promise((resolve, reject) => {
    session.post(method, parameters, (error: Error | null, result?: object) => {
      if (error) reject(error);
      else resolve(result ?? {});
    });
  });
}

if (path !== '') {
  Bun.listen({
    unix: path,
    socket: {
      async data(socket, bytes) {
        const [name = '', argument = ''] = bytes.toString().trim().split(' ');
        const command = COMMANDS[name] ?? (() => ({ error: `unknown command ${name}` }));
        const answer = await Promise.try(command, argument).catch((error: unknown) => ({
          error: String(error),
        }));
        socket.end(`${JSON.stringify(answer)}\n`);
      },
    },
  }).unref();
}
