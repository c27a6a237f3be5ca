// Runs a program that prints a line for everything it has confirmed, and kills it in the middle of its work.
import { join } from 'node:path';

/**
 * Runs a program of `test/crash/processes` until it has printed `count` lines, kills it without warning, and returns
 * every whole line that it printed.
 */
export async function killAfter(program: string, args: readonly string[], count: number): Promise<string[]> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'processes', program), ...args], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  let text = '';
  let lines = 0;
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    const piece = decoder.decode(chunk, { stream: true });
    text += piece;
    lines += piece.split('\n').length - 1;
    if (lines >= count) child.kill('SIGKILL');
  }
  await child.exited;
  // Lines that the pipe had taken when the writer died count: a client may have received them. A cut line does not.
  return text.slice(0, text.lastIndexOf('\n')).split('\n');
}
