// What sums count by name and by bucket, as one value of their row: only what is not zero.
import type { JsonValue } from '../../canonical/index.ts';
import {
  type LatencyCounts,
  type NamedCounts,
  noUsageDetails,
  type UsageDetails,
} from '../../usage/index.ts';
import type { CompactReader } from '../compact/reader.ts';
import type { CompactWriter } from '../compact/writer.ts';

/** The only form so far. A member may be added at the end without a new one. */
const DETAILS_FORM = 1;

/** @param w has been reset */
export function writeDetails(w: CompactWriter, details: UsageDetails): void {
  w.number(DETAILS_FORM);
  writeNamed(w, details.errorKinds);
  writeNamed(w, details.tools);
  writeBuckets(w, details.durations);
  writeBuckets(w, details.firstContents);
}

/** @throws RangeError when the bytes are none of these */
export function readDetails(r: CompactReader): UsageDetails {
  const form = r.value();
  if (form !== DETAILS_FORM) throw new RangeError(`no details of sums have the form ${String(form)}`);
  const details = noUsageDetails();
  readNamed(r, details.errorKinds);
  readNamed(r, details.tools);
  readBuckets(r, details.durations);
  readBuckets(r, details.firstContents);
  return details;
}

/** Pairs up to `false`. */
function writeNamed(w: CompactWriter, counts: NamedCounts): void {
  for (const [name, count] of counts) {
    w.name(name);
    w.number(count);
  }
  w.flag(false);
}

function readNamed(r: CompactReader, counts: NamedCounts): void {
  for (let name: JsonValue = r.value(); typeof name === 'string'; name = r.value())
    counts.set(name, r.value() as number);
}

/** Pairs of bucket and count, up to `false`. */
function writeBuckets(w: CompactWriter, counts: LatencyCounts): void {
  for (let bucket = 0; bucket < counts.length; bucket += 1) {
    const count = counts[bucket] ?? 0;
    if (count === 0) continue;
    w.number(bucket);
    w.number(count);
  }
  w.flag(false);
}

function readBuckets(r: CompactReader, counts: LatencyCounts): void {
  for (let bucket: JsonValue = r.value(); typeof bucket === 'number'; bucket = r.value()) {
    while (counts.length < bucket) counts.push(0);
    counts[bucket] = r.value() as number;
  }
}
