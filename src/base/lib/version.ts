// The version of the program: that of its package, which is not read at a start. A test compares the two.

export const VERSION = '0.1.0';
