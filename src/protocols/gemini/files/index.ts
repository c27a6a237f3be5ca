// Google's Files API (API reference, "Files", 2026-11): decoding of uploads, encoding and names of files.
export { decodeGeminiUpload } from './decode-upload.ts';
export { encodeGeminiFile } from './encode-file.ts';
export { fileIdOf, fileNameOf } from './file-name.ts';
