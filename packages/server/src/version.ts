/** The version of the published contract where the host names none: that of the package. */
export const packageVersion = "0.2.0";
