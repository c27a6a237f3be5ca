// Images, files and documents that an upstream cannot fetch or read: found in a request, fetched with guards, or
// converted to text.
export { needsReading, readDocuments, type ReadDocuments } from './read-documents.ts';
export {
  type FetchedMedia,
  fetchMedia,
  filesOfAccounts,
  type MediaSources,
  hasMediaAddresses,
  resolveFiles,
} from './resolve-media.ts';
