// Pictures, files and documents that an upstream cannot fetch or read: found in a request, fetched under guard, or read as
// text.
export { needsReading, readDocuments, type ReadDocuments } from './read-documents.ts';
export {
  type FetchedMedia,
  fetchMedia,
  filesOfAccounts,
  type MediaSources,
  hasMediaAddresses,
  resolveFiles,
} from './resolve-media.ts';
