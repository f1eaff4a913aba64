package shop;

import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.options;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.header;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.jsonPath;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import java.util.Base64;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.request.MockHttpServletRequestBuilder;

@SpringBootTest
@AutoConfigureMockMvc
class OrdersTest {
    private static final String ALICE =
            "Basic " + Base64.getEncoder().encodeToString("alice:secret".getBytes());

    @Autowired
    MockMvc mvc;

    private static MockHttpServletRequestBuilder order(String number, int quantity) {
        return post("/shop/orders")
                .contextPath("/shop")
                .header("Authorization", ALICE)
                .contentType(MediaType.APPLICATION_JSON)
                .content("{\"number\":\"" + number + "\",\"quantity\":" + quantity + "}");
    }

    @Test
    void placesAnOrder() throws Exception {
        mvc.perform(order(UUID.randomUUID().toString(), 2))
                .andExpect(status().isCreated())
                .andExpect(jsonPath("$.quantity").value(2));
    }

    @Test
    void refusesTheSameNumberTwice() throws Exception {
        String number = UUID.randomUUID().toString();
        mvc.perform(order(number, 1)).andExpect(status().isCreated());
        mvc.perform(order(number, 1)).andExpect(status().isConflict());
    }

    @Test
    void refusesNonsense() throws Exception {
        mvc.perform(order("x", 0))
                .andExpect(status().isBadRequest())
                .andExpect(jsonPath("$.detail").value("quantity must be positive"));
    }

    @Test
    void needsAUser() throws Exception {
        mvc.perform(post("/shop/orders").contextPath("/shop").contentType(MediaType.APPLICATION_JSON).content("{}"))
                .andExpect(status().isUnauthorized());
    }

    @Test
    void answersOtherOrigins() throws Exception {
        mvc.perform(options("/shop/orders")
                        .contextPath("/shop")
                        .header("Origin", "https://app.example")
                        .header("Access-Control-Request-Method", "POST"))
                .andExpect(status().isOk())
                .andExpect(header().string("Access-Control-Allow-Origin", "https://app.example"));
    }

    @Test
    void isDescribed() throws Exception {
        mvc.perform(get("/shop/v3/api-docs").contextPath("/shop"))
                .andExpect(status().isOk())
                .andExpect(jsonPath("$.paths['/orders'].post").exists());
    }
}
