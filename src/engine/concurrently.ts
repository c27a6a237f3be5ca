// Runs work with limited concurrency.

/** @param work must not reject, or all results are lost @returns the results in the order of the elements */
export async function concurrently<T, R>(
  elements: readonly T[],
  atOnce: number,
  work: (element: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let place = next++; place < elements.length; place = next++) {
      const element = elements[place];
      if (element !== undefined) results[place] = await work(element);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, elements.length) }, worker));
  return results;
}
