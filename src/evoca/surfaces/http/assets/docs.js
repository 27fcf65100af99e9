window.onload = () => {
  SwaggerUIBundle({
    url: "openapi.json",
    dom_id: "#docs",
    deepLinking: true,
    defaultModelsExpandDepth: -1,
    docExpansion: "none",
    validatorUrl: null,
    persistAuthorization: false,
  });
};
