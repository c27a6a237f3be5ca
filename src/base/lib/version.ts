// Version of the program. A constant, so that starting does not read package.json; a test compares the two.

export const VERSION = '0.1.0';
