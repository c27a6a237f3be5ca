// The recordings that hold no whole answer, each with its reason. The gateway must refuse them with an error; they do
// not count in the rates.

const NO_BODY = 'the recorder kept `null` in place of the answer';
const QUEUED = 'background mode: the reply says only that the answer is queued';

/** Reason by case. `docs/recordings.md` repeats this list. */
export const NO_ANSWER: Readonly<Record<string, string>> = {
  '12e8237bf1c3': NO_BODY,
  '35a000a6d5f9': NO_BODY,
  '1deede6322e6': NO_BODY,
  '4572b28d940b': NO_BODY,
  '8bb4e27d5502': NO_BODY,
  '1d7d1cd2e0cd': QUEUED,
  '065466c40ad8': QUEUED,
  '2856c34c388b': QUEUED,
  '0890ebc6add8': 'the fixture begins a second answer in the middle of the first one',
};
