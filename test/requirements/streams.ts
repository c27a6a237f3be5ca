// What streams may cost and show, however long they are, however they are cut, and whoever reads them slowly.
import { shown, type Requirements } from './requirement.ts';

const STREAMS = 'streams that stop nobody else';
const LINEAR = 'test/relay-linear.test.ts';
const SPLITTER = 'src/protocols/frame-splitter.test.ts';

export const streamRequirements: Requirements = {
  'contract.streams.linear': shown(
    STREAMS,
    'What a relayed stream costs grows with its bytes alone, in whatever pieces they arrive.',
    `${LINEAR}: many events in one read`,
    `${LINEAR}: one event in many reads`,
    `${SPLITTER}: an event is the same in whatever pieces it comes`,
  ),
};
