/** The version of the API and of the package. */
export const version = "2.0.0"
