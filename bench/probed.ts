// Starts a gateway with the probe of probe.ts, and sends commands to it.
import { connect } from 'node:net';
import { join } from 'node:path';
import { type GatewayOptions, type Server, startGateway } from './targets.ts';

export interface HeapSize {
  /** Bytes. */
  readonly heapSize: number;
  readonly objectCount: number;
  /** Bytes outside of the heap that its objects use. */
  readonly extraMemorySize: number;
}

export interface ProbedGateway extends Server {
  /** Size of the JavaScript heap. @param collected true: after a full garbage collection */
  heap(collected: boolean): Promise<HeapSize>;
  /** Profiles the gateway during `work`. @param file path of the .cpuprofile to write */
  profile(file: string, work: () => Promise<void>): Promise<void>;
  /** Counts the calls of every function during `work`. @param file path for V8's precise coverage */
  coverage(file: string, work: () => Promise<void>): Promise<void>;
}

const SAMPLING_MICROS = 500;

/** Starts a gateway with the probe. */
export async function startProbed(
  folder: string,
  mockPort: number,
  { environment = {}, ...options }: GatewayOptions = {},
): Promise<ProbedGateway> {
  const path = join(folder, 'probe.sock');
  const probe = {
    BUN_OPTIONS: `--preload=${join(import.meta.dirname, 'probe.ts')}`,
    DRAGOMAN_BENCH_PROBE: path,
  };
  const gateway = await startGateway(folder, mockPort, {
    ...options,
    environment: { ...environment, ...probe },
  });
  const ask = (command: string): Promise<object> => askProbe(path, command);
  return {
    ...gateway,
    heap: async (collected) => (await ask(collected ? 'collect' : 'heap')) as HeapSize,
    async profile(file, work) {
      await ask(`profile-start ${SAMPLING_MICROS}`);
      await work();
      await ask(`profile-stop ${file}`);
    },
    async coverage(file, work) {
      await ask(`coverage ${file}`);
      await work();
      await ask(`coverage ${file}`);
    },
  };
}

function askProbe(path: string, command: string): Promise<object> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(path);
    socket.on('data', (bytes: Buffer) => (answer += bytes.toString()));
    socket.on('error', reject);
    socket.on('close', () => {
      const result = answer === '' ? { error: 'no response' } : (JSON.parse(answer) as { error?: string });
      if (result.error === undefined) resolve(result);
      else reject(new Error(`${command}: ${result.error}`));
    });
    socket.write(`${command}\n`);
  });
}
