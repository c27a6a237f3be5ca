/** Error with which a promise was rejected; fails when it was not. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`was not rejected, but gave ${String(value)}`);
}
