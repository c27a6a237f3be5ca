// Gateways that are killed without warning, one after the other over one data directory, each a process of its own.
import { afterAll } from 'bun:test';
import { freshFolder, NO_OVERLOAD, type Program, runtimePid, startProgram } from '../support/program.ts';

/** The key of a gateway without a configuration; others may list it. */
export const KEY = 'sk-test';
export const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };

/** SIGKILL for the process that serves; settles when its launcher has noticed. Does nothing where it is dead. */
export async function killProgram(program: Program): Promise<void> {
  try {
    process.kill(runtimePid(program.pid), 'SIGKILL');
  } catch {
    // It is dead already.
  }
  await program.exited;
}

export interface KillScene {
  /** Holds their data directories. */
  readonly folder: string;
  /** @param data name of the data directory */
  serve(config?: object, data?: string): Promise<Program>;
}

/** A scene for the tests of one file; what still runs after them is killed. */
export function killScene(): KillScene {
  const { folder, remove } = freshFolder();
  const running = new Set<Program>();
  afterAll(async () => {
    await Promise.all([...running].map(killProgram));
    remove();
  });
  return {
    folder,
    async serve(config, data = 'data') {
      const args = ['serve', '--port', '0', '--data-dir', `${folder}/${data}`];
      const file = `${folder}/dragoman.yaml`;
      await Bun.write(file, JSON.stringify({ server: NO_OVERLOAD, ...config }));
      const environment: Record<string, string> = config ? {} : { DRAGOMAN_KEY: KEY };
      const program = await startProgram([...args, '--config', file], { folder, environment });
      running.add(program);
      void program.exited.then(() => running.delete(program));
      return program;
    },
  };
}
