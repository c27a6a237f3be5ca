// Streams: what they may cost and show, however long they are, however they are cut, and however slowly they are read.
import { shown, type Requirements } from './requirement.ts';

const STREAMS = 'streams that stop nobody else';
const LINEAR = 'test/unit/linear/relay-linear.test.ts';
const ECHOED = 'test/scenarios/echoed-keys.test.ts';
const ENDLESS = 'test/scenarios/streams/endless-answers.test.ts';
const PACED = 'test/unit/engine/attempt/paced-answer.test.ts';
const SPLITTER = 'test/unit/protocols/frame-splitter.test.ts';

export const streamRequirements: Requirements = {
  'contract.streams.linear': shown(
    STREAMS,
    'What a relayed stream costs grows with its bytes alone, in whatever pieces they arrive.',
    `${LINEAR}: many events in one read`,
    `${LINEAR}: one event in many reads`,
    `${SPLITTER}: an event is the same in whatever pieces it comes`,
  ),
  'contract.streams.slow-reader': shown(
    STREAMS,
    'What piled up for a client that did not read is worked off in slices, and not before the client reads.',
    'test/scenarios/streams/slow-reader.test.ts: a burst is worked off while others are served',
    'test/scenarios/streams/slow-client.test.ts: %s lane',
    `${PACED}: a large read is worked off over several turns`,
    `${PACED}: nothing is worked off for a client without room`,
  ),
  'contract.streams.bounds': shown(
    STREAMS,
    'An answer without end, or with too much of anything, fails with an error that names the limit.',
    `${ENDLESS}: endless %s`,
    `${ENDLESS}: an event without end, %s lane`,
    `${ENDLESS}: an event of endless lines`,
  ),
  'contract.streams.echoed-keys': shown(
    STREAMS,
    'A key that an upstream repeats reaches no client, store, record or log, whatever it stands in and however it is cut.',
    `${ECHOED}: in a whole answer`,
    `${ECHOED}: in a stream, and in what is logged of it`,
    `${ECHOED}: in a failure after content, cut within the key`,
    `${ECHOED}: in a failure after content, written with escapes`,
    `${ECHOED}: in an error answer, written with escapes`,
    `${ECHOED}: in a response that is stored`,
    'test/unit/base/telemetry/echo-mask.test.ts: in whatever pieces it comes',
  ),
};
