// Google's Files API (API reference, "Files", 2026-11): what clients say of a file, and how it is shown and named.
export { decodeGeminiUpload } from './decode-upload.ts';
export { encodeGeminiFile } from './encode-file.ts';
export { fileIdOf, fileNameOf } from './file-name.ts';
