// Screens that a client captured for the model (`computer_call_output` of the Responses API), where they were uploaded as
// files. Shared by all who must put the picture in the place of its id.
import type { Item } from '../canonical/index.ts';
import { asObject, asString } from '../base/json/index.ts';

/** The id of the file that a screenshot is in; undefined for every other item, and where the picture itself is there. */
export function screenshotFile(item: Item): string | undefined {
  if (item.type !== 'hosted_call' || item.kind !== 'computer_call_output') return undefined;
  const output = asObject(item.source?.raw['output']);
  return asString(output['image_url']) === undefined ? asString(output['file_id']) : undefined;
}

/** The same item with the picture in it. @param dataUrl of the picture */
export function withScreenshot(item: Item, dataUrl: string): Item {
  if (item.type !== 'hosted_call' || !item.source) return item;
  const { protocol, raw } = item.source;
  const { file_id: _, ...output } = asObject(raw['output']);
  return { ...item, source: { protocol, raw: { ...raw, output: { ...output, image_url: dataUrl } } } };
}
