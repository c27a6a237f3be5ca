// How the program is started, and what a start leaves behind.
import { shown, type Requirements } from './requirement.ts';

const CONTRACT = 'contract with operators: starting';
const PROCESS = 'test/launcher-process.test.ts';

export const startingRequirements: Requirements = {
  'contract.starting.options': shown(
    CONTRACT,
    '`npm start -- --port 4001` passes its options, and ends as the program ends.',
    `${PROCESS}: \`npm start\` passes its options on, and nothing but npm itself stays beside the runtime`,
    `${PROCESS}: \`npm start\` ends as the program ended`,
  ),
  'contract.starting.alone': shown(
    CONTRACT,
    'No launcher stays in memory where the system allows it; every way of starting starts the same thing.',
    `${PROCESS}: the launcher for shells becomes the runtime, and a signal to it drains`,
    `${PROCESS}: under a Node that can become another program, no launcher stays either`,
    `${PROCESS}: both launchers find and start the same runtime: %s`,
    `${PROCESS}: without a runtime the launchers say what to do`,
  ),
};
