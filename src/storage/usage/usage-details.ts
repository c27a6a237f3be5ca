// What sums count by name and by bucket, as one value of their row: only what is not zero.
import type { JsonValue } from '../../canonical/index.ts';
import {
  addNamed,
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
  const details = noUsageDetails();
  addDetails(details, r);
  return details;
}

/**
 * Adds what was written to a sum, which costs half of reading it first: a report adds up tens of thousands.
 * @throws RangeError when the bytes are none of these
 */
export function addDetails(to: UsageDetails, r: CompactReader): void {
  const form = r.value();
  if (form !== DETAILS_FORM) throw new RangeError(`no details of sums have the form ${String(form)}`);
  addNamedFrom(r, to.errorKinds);
  addNamedFrom(r, to.tools);
  addBucketsFrom(r, to.durations);
  addBucketsFrom(r, to.firstContents);
}

/** Pairs up to `false`. */
function writeNamed(w: CompactWriter, counts: NamedCounts): void {
  for (const [name, count] of counts) {
    w.name(name);
    w.number(count);
  }
  w.flag(false);
}

function addNamedFrom(r: CompactReader, counts: NamedCounts): void {
  for (let name: JsonValue = r.value(); typeof name === 'string'; name = r.value())
    addNamed(counts, name, r.value() as number);
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

function addBucketsFrom(r: CompactReader, counts: LatencyCounts): void {
  for (let bucket: JsonValue = r.value(); typeof bucket === 'number'; bucket = r.value()) {
    while (counts.length <= bucket) counts.push(0);
    counts[bucket] = (counts[bucket] ?? 0) + (r.value() as number);
  }
}
