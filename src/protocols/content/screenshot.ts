// Inlines client screenshots (`computer_call_output` of the Responses API) that were uploaded as files.
import type { Item } from '../../canonical/index.ts';
import { asObject, asString } from '../../base/json/index.ts';

/** Returns the file id of a screenshot; undefined for other items, and if the image itself is present. */
export function screenshotFile(item: Item): string | undefined {
  if (item.type !== 'hosted_call' || item.kind !== 'computer_call_output') return undefined;
  const output = asObject(item.source?.raw['output']);
  return asString(output['image_url']) === undefined ? asString(output['file_id']) : undefined;
}

/** Returns the item with the image in it. @param dataUrl of the image */
export function withScreenshot(item: Item, dataUrl: string): Item {
  if (item.type !== 'hosted_call' || !item.source) return item;
  const { protocol, raw } = item.source;
  const { file_id: _, ...output } = asObject(raw['output']);
  return { ...item, source: { protocol, raw: { ...raw, output: { ...output, image_url: dataUrl } } } };
}
