import fc from 'fast-check';

/** Objects without a member `__proto__`, which a body may not have: it is refused before anything is edited. */
export const OBJECT = fc
  .dictionary(fc.string(), fc.jsonValue())
  .filter((object) => !JSON.stringify(object).includes('"__proto__"'));
