// The program that `serve --workers N` becomes: the supervisor of workers, which has nothing of the gateway in its memory.
import { readEnvironment } from '../runtime/environment.ts';
import { supervise, SUPERVISOR_PLAN, type SupervisorPlan } from './supervise.ts';

async function main(): Promise<void> {
  const { [SUPERVISOR_PLAN]: plan = '', ...environment } = readEnvironment();
  process.exit(await supervise(JSON.parse(plan) as SupervisorPlan, environment));
}

// No `await` at the top: as in the other program.
void main();
